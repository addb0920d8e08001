// SPDX-License-Identifier: Apache-2.0
// The output formats of `gapless gate`.
#pragma once

#include <string>
#include <string_view>

#include "proof/judgement.h"

namespace gapless::internal {

std::string GateText(const Judgement& judgement);
std::string GateJson(const Judgement& judgement);
std::string_view NameOf(GateKind kind);                // "fine", "regression", "improvement", "cannot_tell"
std::string GateMarkdown(const Judgement& judgement);  // a comment on a pull request
std::string GateJunit(const Judgement& judgement);
std::string GateSarif(const Judgement& judgement);
std::string GateGithub(const Judgement& judgement);  // workflow commands, which become annotations

}  // namespace gapless::internal
