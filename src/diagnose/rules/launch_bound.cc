// SPDX-License-Identifier: Apache-2.0
// The device waits because the host cannot issue work fast enough. The affected time is idle time in which the host was
// inside operators or launch calls. In gaps with that as the main cause it includes the moments between operators, in
// which Python calls the next one. Time during graph capture does not count, nor does a single call that takes more
// than half of a recording's affected time: first uses load kernels' code and start the allocator. The gain: a captured
// graph or a compiled step issues the whole step with few calls, so nearly all of it can go (high: all). Steps have
// parts that cannot be captured, and compiling fuses only some kernels: we expect six tenths and at least a quarter.
#include <algorithm>
#include <cmath>

#include "analyses/rows/idle.h"
#include "analyses/rows/launch_waits.h"
#include "analyses/rows/launches.h"
#include "analyses/rows/syncs.h"
#include "analyses/rows/warm_up.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/launch_stake.h"
#include "diagnose/ledger_view.h"
#include "diagnose/row_groups.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"
#include "diagnose/thresholds.h"
#include "fixes/names.h"

namespace gapless::internal::launch_bound_rule {
namespace {

// A part is told from the whole where it is a hundredth of it.
constexpr int64_t kWorthTelling = 100;
// Ours: a graph of fewer launches than this between two waits for the device saves less than making it costs.
constexpr int64_t kLaunchesPerWait = 20;

constexpr std::string_view kNeeds[] = {"ledger", "idle",    "launches", "launch_waits",
                                       "syncs",  "warm_up", "kernels",  "operators"};

std::vector<Evidence> LaunchEvidence(const LaunchesRows& launches) {
  std::vector<Evidence> all;
  const std::vector<size_t> rows = LargestRows(launches, "calls", 1);
  if (rows.empty()) return all;
  const size_t row = rows[0];
  const double per_step = launches.Real(row, "calls_per_step");
  const bool steps = !launches.IsNull(row, "calls_per_step");
  all.push_back({.text = StrCat(FormatCount(steps ? std::llround(per_step) : launches.Int(row, "calls")),
                                steps ? " launches a step; half of the calls take less than "
                                      : " launches; half of the calls take less than ",
                                FormatDuration(launches.Int(row, "call_p50_ns")), " of host time"),
                 .value = steps ? per_step : launches.Real(row, "calls"),
                 .unit = "launches",
                 .table = "launches"});
  if (const int64_t graphs = launches.Int(row, "graph_calls"); graphs > 0)
    all.push_back({.text = StrCat(FormatCount(graphs), " of ", FormatCount(launches.Int(row, "calls")),
                                  " launches start captured graphs; the others start one kernel each"),
                   .value = static_cast<double>(graphs),
                   .unit = "launches",
                   .table = "launches"});
  if (!launches.IsNull(row, "kernel_p50_ns"))
    all.push_back(
        {.text = StrCat("half of the kernels are shorter than ", FormatDuration(launches.Int(row, "kernel_p50_ns")),
                        "; ", FormatPercent(launches.Real(row, "short_kernel_share")), " are under 10 µs"),
         .value = launches.Real(row, "kernel_p50_ns"),
         .unit = "ns",
         .table = "kernels"});
  return all;
}

std::vector<Evidence> HostEvidence(const LaunchWaitsRows& waits, const LaunchStake& stake, const LedgerView& ledger) {
  constexpr LaunchWaitsRows::TextColumn kByOperator[] = {"operator"}, kByLine[] = {"source_line"};
  const auto named = [&](LaunchWaitsRows::TextColumn column) {
    return [&waits, &stake, column](size_t row) {
      return waits.IsNull(row, column) ? 0 : WithoutOneOff(waits, stake, row);
    };
  };
  std::vector<Evidence> all;
  std::string names;
  const std::vector<RowGroup> operators = GroupRows(waits, kByOperator, named("operator"));
  for (size_t i = 0; i < operators.size() && i < 3; ++i)
    names += StrCat(i > 0 ? ", " : "", waits.Text(operators[i].first(), "operator"), " (",
                    ledger.CostText(operators[i].value), ")");
  if (!names.empty())
    all.push_back({.text = StrCat("the GPU idles most while the host is in ", names), .table = "operators"});
  const std::vector<RowGroup> lines = GroupRows(waits, kByLine, named("source_line"));
  for (size_t i = 0; i < lines.size() && i < 3; ++i) {
    const std::string line(waits.Text(lines[i].first(), "source_line"));
    all.push_back({.text = StrCat("launched from ", line, ": the GPU idles for ", ledger.CostText(lines[i].value)),
                   .value = static_cast<double>(lines[i].value),
                   .unit = "ns",
                   .table = "slice",
                   .rows = IdsOf(waits, lines[i].rows, "slice_id"),
                   .source = line});
  }
  return all;
}

// The idle time with another cause than launching, which does not count.
std::vector<Evidence> LeftOut(const LaunchWaitsRows& waits, const LaunchStake& stake) {
  std::vector<Evidence> all;
  if (!stake.one_offs.empty()) {
    const size_t row = stake.one_offs[0];
    const bool several = stake.one_offs.size() > 1;
    all.push_back({.text = StrCat("not counted: one call of ", waits.Text(row, "call"), several ? " on each rank" : "",
                                  " that alone keeps the GPU waiting for ", FormatDuration(waits.Int(row, "call_ns")),
                                  ", more than all other launching: warm-up"),
                   .value = static_cast<double>(stake.one_off_ns),
                   .unit = "ns",
                   .table = "slice",
                   .rows = IdsOf(waits, stake.one_offs, "slice_id")});
  }
  if (stake.start_ns > 0)
    all.push_back({.text = StrCat("not counted: the GPU idles for ", FormatDuration(stake.start_ns),
                                  " while kernels are loaded, libraries start or code is compiled"),
                   .value = static_cast<double>(stake.start_ns),
                   .unit = "ns",
                   .table = "warm_up"});
  if (stake.captured_ns > 0)
    all.push_back({.text = StrCat("not counted: the GPU idles for ", FormatDuration(stake.captured_ns),
                                  " while a graph is captured"),
                   .value = static_cast<double>(stake.captured_ns),
                   .unit = "ns",
                   .table = "launch_waits"});
  return all;
}

// Does the host wait for the device so often that a step cannot be one graph? A wait within it ends the capture.
bool WaitsTooOften(const SyncsRows& syncs, const LaunchesRows& launches) {
  int64_t waits = 0;
  for (size_t row = 0; row < syncs.rows(); ++row)
    if (const std::string_view kind = syncs.Text(row, "kind"); kind != "stream_wait" && !syncs.IsNull(row, "call"))
      waits += syncs.Int(row, "calls");
  return kLaunchesPerWait * waits > SumOf(launches, "calls");
}

std::vector<Recommendation> Recommend(const LaunchesRows& launches, const SyncsRows& syncs, bool compiled) {
  std::vector<Recommendation> all;
  const bool graphs = SumOf(launches, "graph_calls") > 0 || WaitsTooOften(syncs, launches);
  all.push_back({compiled ? "compile the code that is not compiled yet, without graph breaks: fewer launches"
                          : "compile the model: fused kernels, fewer launches",
                 fixes::kCompile.Item(),
                 compiled ? "model = torch.compile(model, fullgraph=True)" : "model = torch.compile(model)",
                 "minutes"});
  if (!graphs)
    all.push_back({"capture the step in a CUDA graph: one launch for all its kernels", fixes::kCudagraph.Item(),
                   "torch.compile(model, mode=\"reduce-overhead\")", "hours"});
  all.push_back({"give each kernel more to do: a larger batch", "", "", "hours"});
  return all;
}

// Divides the affected time: the breakdown calls only that part "launch" in which the host is inside operators and
// calls.
Evidence Division(const LaunchStake& stake, const LedgerView& ledger) {
  const int64_t between_ns = stake.ns - ledger.total.idle_launch_ns;
  return {
      .text = StrCat("of it ", ledger.CostText(ledger.total.idle_launch_ns), " inside operators and launch calls, and ",
                     ledger.CostText(between_ns), " between them, while Python calls the next one"),
      .value = static_cast<double>(between_ns),
      .unit = "ns",
      .table = "launch_waits"};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  if (ledger.Share(ledger.total.idle_launch_ns + ledger.total.idle_host_ns) < kLaunchBoundShare)
    return std::vector<Bottleneck>{};
  const auto waits = tables.Get<LaunchWaitsRows>();
  const auto launches = tables.Get<LaunchesRows>();
  const LaunchStake stake = CollectLaunchStake(waits, launches, tables.Get<WarmUpRows>(), ledger);
  const double share = ledger.Share(stake.ns);
  if (share < kLaunchBoundShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("the GPU waits ", ledger.CostText(stake.ns), " for the host to launch work");
  found.description = StrCat("For ", FormatPercent(share),
                             " of the time the GPU has nothing queued while the host is still issuing operators",
                             ledger.WorstText(&DeviceBreakdown::idle_launch_ns), ".");
  found.evidence = LaunchEvidence(launches);
  for (Evidence& item : HostEvidence(waits, stake, ledger)) found.evidence.push_back(std::move(item));
  const std::vector<Evidence> left_out = LeftOut(waits, stake);
  found.evidence.insert(found.evidence.end(), left_out.begin(), left_out.end());
  // The longest wait may be what was left out.
  if (left_out.empty() && stake.ns > ledger.total.idle_launch_ns + stake.ns / kWorthTelling)
    found.evidence.push_back(Division(stake, ledger));
  if (left_out.empty()) found.evidence.push_back(LargestGaps(LongestIdle(tables), "launch_ns", "wait for a launch"));
  found.recommendations = Recommend(launches, tables.Get<SyncsRows>(), SeesCompiler(tables));
  const auto waste = static_cast<double>(stake.ns);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
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
        "Idle time of the GPU while the host is inside operators or launch calls, or between operators in gaps where "
        "those dominate; not while a graph is being captured, and without a single call that alone takes more than "
        "half of it (warm-up; with 16 launches or more, or in a single step). Reported at 10 % of the analysed time or "
        "more: TraceLens flags idle time of any cause at 15 %, this is two thirds of that for one cause. Shows "
        "launches per step, their cost on the host, how short the kernels are, and which operators and lines keep the "
        "GPU waiting.",
    .saves = "¼, 6/10, all of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::launch_bound_rule
