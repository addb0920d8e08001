// SPDX-License-Identifier: Apache-2.0
// Explains why a rule was or was not reported: its definition, its numbers, their rows, and the derivation of severity
// and gain.
#pragma once

#include <string>

#include "diagnose/rule.h"
#include "report/renderer.h"

namespace gapless::internal {

// Returns the explanation as text, wrapped to the width, or as a JSON document. `report` must hold the bottlenecks of
// all rules: a rule that was filtered out would look as if it was not reported.
std::string ExplainText(const Report& report, const Rule& rule, const RenderOptions& options);
std::string ExplainJson(const Report& report, const Rule& rule);

}  // namespace gapless::internal
