// SPDX-License-Identifier: Apache-2.0
// Converts what became of the number of --metric to its document, and decisions about trainings to documents and back.
// The precision is in a document only where rounding explains the difference.
#include "proof/described.h"

namespace gapless::internal {

documents::Parity ParityDocument(const ParityReport& report) {
  documents::Parity parity{.verdict = report.verdict,
                           .reason = report.reason,
                           .steps = report.steps,
                           .test = report.test,
                           .step = report.step,
                           .tensor = report.tensor,
                           .value = report.value,
                           .limit = report.limit,
                           .seen_from = report.seen_from,
                           .differences = report.differences};
  if (report.verdict == ParityVerdict::kRounding) parity.unit = report.precision;
  return parity;
}

std::optional<ParityReport> ParityFrom(const documents::Parity& parity) {
  if (parity.step == size_t{0}) return std::nullopt;
  return ParityReport{.verdict = parity.verdict,
                      .precision = parity.unit.value_or(Precision::kFp32),
                      .reason = parity.reason,
                      .step = parity.step,
                      .tensor = parity.tensor,
                      .test = parity.test,
                      .value = parity.value,
                      .limit = parity.limit,
                      .seen_from = parity.seen_from,
                      .differences = parity.differences,
                      .steps = parity.steps};
}

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
