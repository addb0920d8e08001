// SPDX-License-Identifier: Apache-2.0
// All rules at once, the worst first, and the text of it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "diagnose/bottleneck.h"

namespace gapless::internal {

struct BottleneckAnalyzer {
  static constexpr size_t kMax = 5;
  // Returns the rules' findings, at most kMax, by severity (the report of `analyze` ranks by expected gain instead).
  static std::vector<Bottleneck> AnalyzeAll(Tables& tables);
  static std::vector<Bottleneck> MostSevere(std::vector<Bottleneck> all);  // selects from existing findings
  // "Critical Issues (severity >0.7)", "Warnings (severity 0.4-0.7)" with evidence and recommendations, and "Estimated
  // Performance Improvement": the factor if all given ones were cured, as `analyze` plans them. What is part of another
  // that is given, too, is not counted twice, nor is what would change the training. Milder ones count in the estimate
  // only.
  static std::string GenerateReport(std::span<const Bottleneck> bottlenecks);
};

// Rules by id, those that found something, by severity. An id that names no rule is a fault of the caller.
std::vector<Bottleneck> CheckRules(Tables& tables, std::span<const std::string_view> ids);

}  // namespace gapless::internal
