// SPDX-License-Identifier: Apache-2.0
// Reads table serving_phases, whose rows of one device follow each other.
#include "diagnose/serving_view.h"

#include <algorithm>
#include <utility>

#include "analyses/rows/serving_phases.h"

namespace gapless::internal {

std::vector<ServingIterations> ServingDevices(Tables& tables) {
  std::vector<ServingIterations> devices;
  const auto rows = tables.Get<ServingPhasesRows>();
  std::pair<int64_t, int64_t> last{-1, -1};
  for (size_t row = 0; row < rows.rows(); ++row) {
    const std::pair of{rows.Int(row, "trace"), rows.Int(row, "device")};
    if (devices.empty() || of != last) devices.emplace_back();
    last = of;
    const std::string_view phase = rows.Text(row, "phase");
    using Kind = ServingIteration::Kind;
    devices.back().push_back({.kind = phase == "prefill" ? Kind::kPrefill
                                      : phase == "mixed" ? Kind::kMixed
                                                         : Kind::kDecode,
                              .prefill_requests = rows.Int(row, "prefill_requests"),
                              .decode_requests = rows.Int(row, "decode_requests"),
                              .dur_ns = rows.Int(row, "dur_ns"),
                              .busy_ns = rows.Int(row, "busy_ns"),
                              .kernels = rows.Int(row, "kernels"),
                              .graph_kernels = rows.Int(row, "graph_kernels")});
  }
  return devices;
}

int64_t MedianOf(const ServingIterations& iterations, ServingIteration::Kind kind) {
  std::vector<int64_t> lengths;
  for (const ServingIteration& iteration : iterations)
    if (iteration.kind == kind) lengths.push_back(iteration.dur_ns);
  if (lengths.empty()) return 0;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  if (lengths.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(lengths.begin(), middle)) / 2;
}

Evidence ServingEvidence(std::string text, double value, std::string_view unit) {
  return {.text = std::move(text), .value = value, .unit = std::string(unit), .table = "serving_phases"};
}

}  // namespace gapless::internal
