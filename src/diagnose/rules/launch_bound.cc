// SPDX-License-Identifier: Apache-2.0
// The device waits because the host cannot issue work fast enough.
//
// At stake is idle time in which the host was inside operators or launch calls, and in gaps where that is the main
// cause also the moments between operators: Python calling the next one. The gain: a captured graph or a compiled step
// issues the whole step with few calls, so nearly all of it can go (high: all). Steps have parts that cannot be
// captured, and compiling fuses only some kernels: we expect six tenths and at least a quarter.
#include <cmath>

#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"
#include "diagnose/thresholds.h"

namespace gapless {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "idle", "launches", "kernels"};

// Host time between operators in gaps where launching is the main cause.
int64_t BetweenOperators(const Table& idle) {
  const int cause = idle.Find("cause"), host = idle.Find("host_ns");
  int64_t between = 0;
  for (size_t row = 0; row < idle.rows(); ++row)
    if (idle.Text(row, cause) == "launch") between += idle.Int(row, host);
  return between;
}

std::vector<Evidence> LaunchEvidence(const Table& launches) {
  std::vector<Evidence> all;
  const std::vector<size_t> rows = LargestRows(launches, "calls", 1);
  if (rows.empty()) return all;
  const size_t row = rows[0];
  const double per_step = launches.Real(row, "calls_per_step");
  const bool steps = !launches.IsNull(row, "calls_per_step");
  all.push_back({StrCat(FormatCount(steps ? std::llround(per_step) : launches.Int(row, "calls")),
                        steps ? " launches a step, " : " launches, ", FormatDuration(launches.Int(row, "call_mean_ns")),
                        " of host time each"),
                 steps ? per_step : launches.Real(row, "calls"),
                 "launches",
                 "launches",
                 {},
                 ""});
  if (const int64_t graphs = launches.Int(row, "graph_calls"); graphs > 0)
    all.push_back({StrCat(FormatCount(graphs), " of ", FormatCount(launches.Int(row, "calls")),
                          " launches are of captured graphs; the rest goes one by one"),
                   static_cast<double>(graphs),
                   "launches",
                   "launches",
                   {},
                   ""});
  if (!launches.IsNull(row, "kernel_p50_ns"))
    all.push_back({StrCat("half of the kernels are shorter than ", FormatDuration(launches.Int(row, "kernel_p50_ns")),
                          "; ", FormatPercent(launches.Real(row, "short_kernel_share")), " are under 10 µs"),
                   launches.Real(row, "kernel_p50_ns"),
                   "ns",
                   "kernels",
                   {},
                   ""});
  return all;
}

std::vector<Evidence> HostEvidence(const Table& idle, const LedgerView& ledger) {
  std::vector<Evidence> all;
  std::string names;
  const std::vector<NamedTime> operators = IdleBy(idle, "operator", "launch_ns", "launch");
  for (size_t i = 0; i < operators.size() && i < 3; ++i)
    names += StrCat(i > 0 ? ", " : "", operators[i].name, " (", ledger.CostText(operators[i].ns), ")");
  if (!names.empty())
    all.push_back({StrCat("the GPU idles most while the host is in ", names), {}, "", "operators", {}, ""});
  const std::vector<NamedTime> lines = IdleBy(idle, "source_line", "launch_ns", "launch");
  for (size_t i = 0; i < lines.size() && i < 3; ++i)
    all.push_back({StrCat("launched from ", lines[i].name, ": idle ", ledger.CostText(lines[i].ns)),
                   static_cast<double>(lines[i].ns),
                   "ns",
                   "idle",
                   {},
                   lines[i].name});
  return all;
}

std::vector<Recommendation> Recommend(const Table& launches, bool compiled) {
  std::vector<Recommendation> all;
  const bool graphs = SumOf(launches, "graph_calls") > 0;
  all.push_back({compiled ? "compile what is not compiled yet, without graph breaks: fewer launches"
                          : "compile the model: fused kernels, fewer launches",
                 "compile", compiled ? "model = torch.compile(model, fullgraph=True)" : "model = torch.compile(model)",
                 "minutes"});
  if (!graphs)
    all.push_back({"capture the step in a CUDA graph: one launch for all its kernels", "cudagraph",
                   "torch.compile(model, mode=\"reduce-overhead\")", "minutes"});
  all.push_back({"give each launch more to do: a larger batch", "", "", "hours"});
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView ledger = ReadLedger(tables);
  if (ledger.Share(ledger.total.idle_launch_ns + ledger.total.idle_host_ns) < kLaunchBoundShare)
    return std::vector<Bottleneck>{};
  const Table &idle = tables.Get("idle"), &launches = tables.Get("launches");
  const int64_t stake = ledger.total.idle_launch_ns + BetweenOperators(idle);
  const double share = ledger.Share(stake);
  if (share < kLaunchBoundShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.id = "launch_bound";
  found.type = BottleneckType::kLaunchBound;
  found.severity = SeverityOfShare(share);
  found.share_of_step = share;
  found.title = StrCat("the GPU waits ", ledger.CostText(stake), " for the host to launch work");
  found.description = StrCat("For ", FormatPercent(share),
                             " of the time the device has nothing queued while the host is still issuing operators",
                             ledger.WorstText(&DeviceBreakdown::idle_launch_ns), ".");
  found.evidence = LaunchEvidence(launches);
  for (Evidence& one : HostEvidence(idle, ledger)) found.evidence.push_back(std::move(one));
  found.evidence.push_back(LargestGaps(idle, "launch_ns", "wait for a launch"));
  found.recommendations = Recommend(launches, SeesCompiler(tables));
  const auto waste = static_cast<double>(stake);
  found.gain = EstimateGain({.fix = "cudagraph",
                             .wall_ns = ledger.total.wall_ns,
                             .low_ns = waste * 0.25,
                             .expected_ns = waste * 0.6,
                             .high_ns = waste,
                             .confidence = 0.6});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(launch_bound) = {
    .id = "launch_bound",
    .type = BottleneckType::kLaunchBound,
    .title = "The host launches too slowly for the GPU",
    .why =
        "Idle time of the device while the host is inside operators or launch calls, or between operators in gaps "
        "where "
        "those dominate. Speaks from 10 % of the time: TraceLens flags idle time of any cause at 15 %, this is "
        "two thirds of that for one cause. Shows launches per step, their cost on the host, how short the kernels "
        "are, and which operators and lines keep the device waiting.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless
