// SPDX-License-Identifier: Apache-2.0
// Why a rule spoke, or did not: its definition, its numbers, where they stand, and how its severity and gain come from
// them.
#pragma once

#include <string>

#include "diagnose/rule.h"
#include "report/renderer.h"

namespace gapless::internal {

std::string ExplainText(const Report& report, const Rule& rule, const RenderOptions& options);
std::string ExplainJson(const Report& report, const Rule& rule);

}  // namespace gapless::internal
