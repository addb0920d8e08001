// SPDX-License-Identifier: Apache-2.0
// The slowest ranks do their own work in the time of the median rank.
//
// Model. A rank's own time is that of its step without exposed communication, which is transfer and waiting for others
// (analysis ranks); of ranks without a device it is the step without waiting in matched collectives. A rank that takes
// longer than the median, the lower one of two, does its device and host work in the median's time. All steps get
// shorter by what the slowest rank gains; a rank that does not gain as much itself waits so much less (the collectives
// of all ranks are matched), and no more than it waited: ranks that take turns in coming last wait for more than one of
// them takes longer.
//
// With a part only that is brought to the median's time: the waits for batches (`data`), what the host does while the
// device is idle (`host`), or the work on the device (`kernels`). So a finding on one rank is priced by what the job
// waits for it, not by the mean over the ranks.
//
// Prior. None is known: why a rank is slow decides what can be done. Half of what it takes longer goes in the cautious
// case; in the best one it gets as fast as the fastest.
#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "analyses/collective_match.h"
#include "analyses/intervals.h"
#include "analyses/rows/ranks.h"
#include "analyses/window.h"
#include "base/strings.h"
#include "predict/fix.h"
#include "predict/fixes/common/collectives.h"
#include "predict/fixes/common/edits.h"
#include "predict/program.h"
#include "trace/marks.h"

namespace gapless::internal::straggler_fix {
namespace {

constexpr double kEven = 1.02;         // ranks whose times differ by less are even
constexpr double kWorthWhile = 0.005;  // share of a rank's own time below which a part is not put right

enum class Part : uint8_t { kAll, kData, kHost, kKernels };
constexpr std::string_view kPartNames[] = {"", "data", "host", "kernels"};

// Times of a step.
struct RankTimes {
  double own_ns = 0, waits_ns = 0;  // without exposed communication; waiting for others
  double data_ns = 0, host_ns = 0, kernels_ns = 0;
  double Of(Part part) const {
    return part == Part::kAll ? own_ns : part == Part::kData ? data_ns : part == Part::kHost ? host_ns : kernels_ns;
  }
};
// Key: index of the trace. The slowest of several devices of one rank counts.
using TimesOfRanks = std::map<int64_t, RankTimes>;

// When operators ran on some thread.
Intervals Operators(const Trace& trace) {
  Intervals working;
  for (uint32_t row = 0; row < trace.slices.size(); ++row)
    if (IsOwnWork(trace, row))
      working.push_back({trace.slices.ts_ns[row], trace.slices.ts_ns[row] + trace.slices.dur_ns[row]});
  return Merge(std::move(working));
}

// A rank without a device: what it waits for others in the collectives that its host carries, while no operator runs,
// is none of its own.
RankTimes OfHost(const Trace& trace, std::span<const CollectiveMatch> matches) {
  const Window window = AnalysedWindow(trace);
  const auto steps = static_cast<double>(std::max<size_t>(1, window.steps.size()));
  int64_t waits_ns = 0, loads_ns = 0;
  const auto is_in = [&](int64_t ns) { return ns >= window.span.start && ns < window.span.end; };
  const Intervals working = Operators(trace);
  for (uint32_t row = 0; row < matches.size(); ++row) {
    const int64_t start = trace.collectives.ts_ns[row], end = start + trace.collectives.dur_ns[row];
    if (matches[row].wait_ns == kAbsent || !is_in(start)) continue;
    waits_ns += std::min(matches[row].wait_ns, std::max<int64_t>(0, end - start - TotalIn(working, {start, end})));
  }
  for (uint32_t row = 0; row < trace.slices.size(); ++row)
    if (is_in(trace.slices.ts_ns[row]) && IsDataLoadingMark(trace.Text(trace.slices.name[row])))
      loads_ns += trace.slices.dur_ns[row];
  RankTimes times{.own_ns = static_cast<double>(window.span.length() - waits_ns) / steps,
                  .waits_ns = static_cast<double>(waits_ns) / steps,
                  .data_ns = static_cast<double>(loads_ns) / steps};
  times.host_ns = std::max(0.0, times.own_ns - times.data_ns);
  return times;
}

void AddHosts(Tables& tables, TimesOfRanks& ranks) {
  const CollectiveMatches& matches = tables.OnceForRun(MatchPrimary);
  const std::vector<const RunTrace*> traces = tables.run().primary();
  for (size_t position = 0; position < traces.size(); ++position) {
    const Trace& trace = *traces[position]->trace;
    const auto meets = [](const CollectiveMatch& match) { return match.ranks > 1; };
    if (trace.gpu_ops.size() == 0 && std::ranges::any_of(matches[position], meets))
      ranks[traces[position]->index] = OfHost(trace, matches[position]);
  }
}

TimesOfRanks ReadRanks(Tables& tables) {
  const auto table = tables.job().Get<RanksRows>();
  TimesOfRanks ranks;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (table.IsNull(row, "waiting_ns")) continue;
    const auto steps = static_cast<double>(std::max<int64_t>(1, table.Int(row, "steps")));
    const auto each = [&](int64_t ns) { return static_cast<double>(ns) / steps; };
    RankTimes& rank = ranks[table.Int(row, "trace")];
    rank.own_ns = std::max(rank.own_ns, each(table.Int(row, "wall_ns") - table.Int(row, "exposed_comm_ns")));
    rank.waits_ns = each(table.Int(row, "waiting_ns") + table.Int(row, "opening_waiting_ns"));
    rank.data_ns = std::max(rank.data_ns, each(table.Int(row, "idle_data_ns")));
    rank.host_ns = std::max(rank.host_ns, each(table.Int(row, "idle_host_ns") + table.Int(row, "idle_launch_ns") +
                                               table.Int(row, "idle_unknown_ns")));
    rank.kernels_ns = std::max(rank.kernels_ns, each(table.Int(row, "own_ns")));
  }
  AddHosts(tables, ranks);
  return ranks;
}

// The time of one part on each rank, sorted, and the most that a rank is to take.
class Evened {
 public:
  Evened(const TimesOfRanks& ranks, Part part, Estimate estimate) : ranks_(ranks), part_(part) {
    for (const auto& [trace, rank] : ranks) sorted_.push_back(rank.Of(part));
    std::sort(sorted_.begin(), sorted_.end());
    if (!sorted_.empty()) target_ = ValueFor(estimate, (Median() + sorted_.back()) / 2, Median(), sorted_.front());
  }
  double Median() const { return sorted_[(sorted_.size() - 1) / 2]; }
  double Slowest() const { return sorted_.back(); }
  bool AreEven() const {
    double own_ns = 0;
    for (const auto& [trace, rank] : ranks_) own_ns = std::max(own_ns, rank.own_ns);
    return Slowest() < kEven * Median() || Slowest() - Median() < kWorthWhile * own_ns;
  }
  // The remaining share of the part on this rank.
  double LeftOf(const RankTimes& rank) const {
    const double ns = rank.Of(part_);
    return ns > Median() ? std::min(1.0, target_ / ns) : 1;
  }
  // The remaining share of this rank's waiting: the slowest rank's step gets shorter, and its own.
  double WaitingLeft(const RankTimes& rank) const {
    double before_ns = 0, after_ns = 0;
    for (const auto& [trace, each] : ranks_)
      before_ns = std::max(before_ns, each.own_ns), after_ns = std::max(after_ns, each.own_ns - SavedOn(each));
    return rank.waits_ns > 0 ? std::max(0.0, 1 - (before_ns - after_ns - SavedOn(rank)) / rank.waits_ns) : 1;
  }

 private:
  double SavedOn(const RankTimes& rank) const { return std::max(0.0, rank.Of(part_) - target_); }

  const TimesOfRanks& ranks_;
  Part part_;
  std::vector<double> sorted_{};
  double target_ = 0;
};

// Scales the part of each collective's time that exceeds its transfer.
void ScaleWaiting(const Collectives& collectives, double left, EdgeTimes& times, size_t ops) {
  std::vector<int64_t> ns(ops, kAbsent);
  for (const Collective& collective : collectives.all) {
    const int64_t now = OpNs(times, collective.op);
    if (collective.wire_ns == kAbsent || now <= collective.wire_ns) continue;
    ns[collective.op] = collective.wire_ns + std::llround(left * static_cast<double>(now - collective.wire_ns));
  }
  SetOps(times, ns);
}

// If the host carries the collectives (gloo), waiting in them is part of what it does in the graph, wherever it
// stands: all of it is scaled to what is left of both.
void ScaleHostWaiting(const RankTimes& rank, double left, EdgeTimes& times) {
  const double all_ns = rank.own_ns + rank.waits_ns, factor = (rank.own_ns + left * rank.waits_ns) / all_ns;
  if (all_ns > 0 && factor < 1) times.ScaleHost([&](uint32_t) { return factor; });
}

void ScalePart(const WhatIfInput& input, Part part, double factor, EdgeTimes& times) {
  const GpuOpTable& ops = input.trace().gpu_ops;
  if (part == Part::kAll || part == Part::kKernels)
    times.ScaleOps([&](uint32_t op) { return ops.op_class[op] == GpuOpClass::kCommunication ? 1.0 : factor; });
  if (part == Part::kKernels) return;
  const std::vector<uint8_t>& loading = input.Once(LoadingSlices);
  times.ScaleHost([&](uint32_t slice) {
    const bool loads = slice != kNoRowValue && loading[slice] != 0;
    return part == Part::kAll || loads == (part == Part::kData) ? factor : 1.0;
  });
}

Result<Part> PartOf(const WhatIfItem& item) {
  for (size_t i = 0; i < std::size(kPartNames); ++i)
    if (item.value == kPartNames[i]) return static_cast<Part>(i);
  return Fail(ErrorCode::kUsage, "straggler takes data, host or kernels", Printable(item.ToString()));
}

std::string WhyNot(const WhatIfInput& input, const TimesOfRanks& ranks) {
  if (input.tables.run().primary().size() < 2) return "one rank was recorded: who waits for whom takes all of them";
  const auto mine = ranks.find(input.of.index);
  if (ranks.size() < 2 || mine == ranks.end() || mine->second.own_ns <= 0)
    return "no collective of one rank was found on another";
  return {};
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& item, Estimate estimate, EdgeTimes& times) {
  GAPLESS_ASSIGN(const auto part, PartOf(item));
  const TimesOfRanks& ranks = input.tables.OnceForRun(ReadRanks);
  WhatIfEffect effect{.refusal = WhyNot(input, ranks)};
  if (!effect.refusal.empty()) return effect;
  const Evened evened(ranks, part, estimate);
  if (evened.AreEven()) {
    effect.no_effect = "no rank takes longer than the median";
    return effect;
  }
  const RankTimes& mine = ranks.find(input.of.index)->second;
  if (const double left = evened.LeftOf(mine); left < 1) ScalePart(input, part, left, times);
  if (input.trace().gpu_ops.size() == 0) ScaleHostWaiting(mine, evened.WaitingLeft(mine), times);
  ScaleWaiting(FindCollectives(input), evened.WaitingLeft(mine), times, input.trace().gpu_ops.size());
  const auto longer = std::llround(evened.Slowest() - evened.Median());
  effect.assumptions.push_back(
      StrCat("what makes a rank take ", FormatDuration(longer), " longer than the median can be put right"));
  return effect;
}

}  // namespace

FIX(straggler) = {
    .name = "straggler",
    .help = "Bring slow ranks to the median's time for their own work",
    .safety = Safety::kExact,
    .model = {.value = "[PART]",
              .why = "Ranks whose own work takes longer than the median's do it in the median's time, half of that in "
                     "the cautious case; the others wait so much less, by the collectives of all ranks. With a part "
                     "only that: waiting for batches (data), what the host does while the device is idle (host), the "
                     "work on the device (kernels).",
              .apply = Apply}};

}  // namespace gapless::internal::straggler_fix
