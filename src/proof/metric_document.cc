// SPDX-License-Identifier: Apache-2.0
// Describes what became of the number of --metric.
#include "proof/described.h"

namespace gapless::internal {

std::optional<documents::PrintedMetric> MetricDocument(std::string_view name,
                                                       const std::optional<MetricChange>& change) {
  if (!change) return std::nullopt;
  const std::string_view basis = change->basis == MetricBasis::kNoise   ? "noise"
                                 : change->basis == MetricBasis::kFloor ? "floor"
                                                                        : "exact";
  return documents::PrintedMetric{.name = std::string(name),
                                  .before = change->before,
                                  .after = change->after,
                                  .allowed = change->allowed,
                                  .basis = std::string(basis),
                                  .runs_before = change->runs_before,
                                  .runs_after = change->runs_after,
                                  .changed = change->changed};
}

}  // namespace gapless::internal
