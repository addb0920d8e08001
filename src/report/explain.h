// SPDX-License-Identifier: Apache-2.0
// Explains why a rule was or was not reported: its definition, its numbers, their rows, and the derivation of severity
// and gain.
#pragma once

#include <string>

#include "diagnose/rule.h"
#include "report/renderer.h"

namespace gapless::internal {

std::string ExplainText(const Report& report, const Rule& rule, const RenderOptions& options);
std::string ExplainJson(const Report& report, const Rule& rule);

}  // namespace gapless::internal
