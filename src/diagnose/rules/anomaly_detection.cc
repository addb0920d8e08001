// SPDX-License-Identifier: Apache-2.0
// Autograd's anomaly detection, a help for debugging, was left on: after every node of the backward pass each gradient
// is searched for NaN, by aten::isnan and aten::_is_any_true, and in the forward pass each operator keeps its Python
// stack, which takes far longer. The affected time is what the searches take on the host and their kernels on the
// device, and where Python functions were recorded the time of keeping stacks. The gain is the replay's, with all of
// this and the waits for answers gone; without a replay it is what they take.
#include <algorithm>

#include "analyses/rows/operators.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/host_step_view.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "fixes/names.h"
#include "trace/marks.h"

namespace gapless::internal::anomaly_detection_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "host_steps", "operators"};
constexpr double kAnomalyShare = 0.02;    // ours: the cure is one line, and changes no number
constexpr int64_t kMinSearches = 10;      // a program may look for NaN in its loss now and then
constexpr double kMinSharedCalls = 0.75;  // of the calls of isnan, of which the answer is asked for as autograd does

struct Searches {
  int64_t looks = 0, answers = 0, nodes = 0, host_ns = 0, device_ns = 0;
};

Searches Find(const OperatorsRows& operators) {
  Searches found;
  for (size_t row = 0; row < operators.rows(); ++row) {
    const std::string_view name = operators.Text(row, "name");
    const int64_t calls = operators.Int(row, "calls");
    if (name.starts_with("autograd::engine::evaluate_function")) found.nodes += calls;
    if (name == "aten::isnan") found.looks += calls;
    if (name == "aten::_is_any_true") found.answers += calls;
    if (name != "aten::isnan" && name != "aten::_is_any_true") continue;
    found.host_ns += operators.Int(row, "host_total_ns");
    found.device_ns += operators.Int(row, "device_total_ns");
  }
  return found;
}

// Returns the time in which operators of the analysed steps keep their Python stacks; 0 where it was not recorded.
int64_t KeepingStacksNs(Tables& tables) {
  int64_t ns = 0;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    const SliceTable& slices = timeline.trace().slices;
    const RowRange rows = RowsWithin(slices.ts_ns, timeline.window.host);
    for (size_t row = rows.first; row < rows.last; ++row)
      if (KeepsForwardStack(timeline.trace().Text(slices.name[row]))) ns += slices.dur_ns[row];
  }
  return ns;
}

// Returns true if autograd itself searches: as often as it evaluates nodes, each search asked for its answer.
bool IsOn(const Searches& found) {
  const auto looks = static_cast<double>(found.looks);
  return found.looks >= kMinSearches && static_cast<double>(found.answers) >= kMinSharedCalls * looks &&
         2 * found.looks >= found.nodes;
}

Bottleneck Describe(const Searches& searches, double share, const std::string& cost, const std::string& search_cost) {
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("autograd's anomaly detection is on: it takes ", cost);
  found.description = StrCat("After every node of the backward pass its gradients are searched for NaN, ",
                             FormatCount(searches.looks), " times in the recording. It is a help for debugging.");
  found.evidence.push_back(
      {.text = StrCat("aten::isnan and aten::_is_any_true: ", FormatCount(searches.looks), " searches, ", search_cost),
       .value = static_cast<double>(searches.host_ns),
       .unit = "ns",
       .table = "operators"});
  found.recommendations.push_back({"switch it off, or on around a few steps only", fixes::kAnomaly.Item(),
                                   "torch.autograd.set_detect_anomaly(False)", "minutes"});
  return found;
}

void AddStacks(Bottleneck& found, int64_t stacks_ns, const std::string& cost) {
  found.evidence.push_back({.text = StrCat("keeping the Python stack of each operator of the forward pass: ", cost),
                            .value = static_cast<double>(stacks_ns),
                            .unit = "ns",
                            .table = "slice"});
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const Searches searches = Find(tables.Get<OperatorsRows>());
  if (!IsOn(searches)) return std::vector<Bottleneck>{};
  const HostStepView host(tables);
  if (host.applies(tables)) {
    const int64_t stacks_ns = KeepingStacksNs(tables), all_ns = searches.host_ns + stacks_ns;
    const double share = host.Share(all_ns);
    if (share < kAnomalyShare) return std::vector<Bottleneck>{};
    Bottleneck found = Describe(searches, share, host.CostText(all_ns), host.CostText(searches.host_ns));
    if (stacks_ns > 0) AddStacks(found, stacks_ns, host.CostText(stacks_ns));
    const auto ns = static_cast<double>(all_ns);
    found.gain = host.GainOf(ns * 0.8, ns, ns, 0.7);
    return std::vector{std::move(found)};
  }
  const LedgerView& ledger = ReadLedger(tables);
  const int64_t ns = std::max(searches.host_ns, searches.device_ns);
  const double share = ledger.Share(std::min(ns, ledger.total.wall_ns));
  if (ledger.total.wall_ns == 0 || share < kAnomalyShare) return std::vector<Bottleneck>{};
  const std::string cost = ledger.CostText(std::min(ns, ledger.total.wall_ns));
  Bottleneck found = Describe(searches, share, cost, cost);
  found.part_of = "host_bound";
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = static_cast<double>(searches.device_ns),
                             .expected_ns = static_cast<double>(searches.device_ns + ns) / 2,
                             .high_ns = static_cast<double>(std::min(ns, ledger.total.wall_ns)),
                             .confidence = 0.5});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(anomaly_detection) = {
    .id = "anomaly_detection",
    .type = BottleneckType::kHostBound,
    .title = "Anomaly detection of autograd was left on",
    .why =
        "Calls of aten::isnan whose answers aten::_is_any_true reduces, as autograd makes them after every node of the "
        "backward pass while torch.autograd.set_detect_anomaly(True) holds. Reported where there are at least half as "
        "many as nodes, 10 of them, and they take 2 % of the analysed time or more; without a GPU the time counts, "
        "too, in which operators of the forward pass keep their Python stacks, where Python functions were "
        "recorded.",
    .saves = "what the calls take on the GPU; half way from there to all; all of it. Without a GPU 8/10, all, all",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::anomaly_detection_rule
