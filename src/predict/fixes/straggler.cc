// SPDX-License-Identifier: Apache-2.0
// The slowest ranks do their own work in the time of the median rank.
//
// Model. A rank's own time is that of its step without exposed communication, which is transfer and waiting for others
// (analysis ranks). A rank that takes longer than the median, the lower one of two, does its device and host work in
// the median's time. All steps get shorter by what the slowest rank gains; a rank that does not gain as much itself
// waits so much less (the collectives of all ranks are matched), and no more than it waited: ranks that take turns in
// coming last wait for more than one of them takes longer.
//
// Prior. None is known: why a rank is slow decides what can be done. Half of what it takes longer goes in the cautious
// case; in the best one it gets as fast as the fastest.
#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "analyses/rows/ranks.h"
#include "base/strings.h"
#include "predict/fix.h"
#include "predict/fixes/common/collectives.h"
#include "predict/fixes/common/edits.h"

namespace gapless::internal {
namespace {

constexpr double kEven = 1.02;  // ranks whose own times differ by less are even

struct Ranks {
  std::span<const double> own_ns{};  // step time without exposed communication; sorted
  double mine_ns = 0, waits_ns = 0;
  double Median() const { return own_ns[(own_ns.size() - 1) / 2]; }
};

// The times of all ranks, by trace: of several devices of one rank the slowest counts.
struct TimesOfRanks {
  std::map<int64_t, std::pair<double, double>> by_trace{};  // own time and waiting, of a step
  std::vector<double> own_ns{};                             // sorted
};

TimesOfRanks ReadRanks(Tables& tables) {
  const auto table = tables.Get<RanksRows>();
  TimesOfRanks ranks;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (table.IsNull(row, "waiting_ns")) continue;
    const auto steps = static_cast<double>(std::max<int64_t>(1, table.Int(row, "steps")));
    const auto own = static_cast<double>(table.Int(row, "wall_ns") - table.Int(row, "exposed_comm_ns"));
    auto& [own_ns, waits_ns] = ranks.by_trace[table.Int(row, "trace")];
    own_ns = std::max(own_ns, own / steps);
    waits_ns = static_cast<double>(table.Int(row, "waiting_ns") + table.Int(row, "opening_waiting_ns")) / steps;
  }
  for (const auto& [trace, times] : ranks.by_trace) ranks.own_ns.push_back(times.first);
  std::sort(ranks.own_ns.begin(), ranks.own_ns.end());
  return ranks;
}

Ranks RanksOf(const WhatIfInput& input) {
  const TimesOfRanks& all = input.tables.OnceForRun(ReadRanks);
  const auto mine = all.by_trace.find(input.of.index);
  if (mine == all.by_trace.end()) return {.own_ns = all.own_ns};
  return {.own_ns = all.own_ns, .mine_ns = mine->second.first, .waits_ns = mine->second.second};
}

// Returns the remaining share of this rank's waiting if no rank takes longer than `target_ns`.
double WaitingLeft(const Ranks& ranks, double target_ns) {
  const double all = ranks.own_ns.back() - target_ns, own = std::max(0.0, ranks.mine_ns - target_ns);
  return ranks.waits_ns > 0 ? std::max(0.0, 1 - (all - own) / ranks.waits_ns) : 1;
}

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

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Estimate estimate, EdgeTimes& times) {
  WhatIfEffect effect;
  const Ranks ranks = RanksOf(input);
  if (input.tables.run().primary().size() < 2)
    effect.refusal = "one rank was recorded: who waits for whom takes all of them";
  else if (ranks.own_ns.size() < 2 || ranks.mine_ns <= 0)
    effect.refusal = "no collective of one rank was found on another";
  else if (ranks.own_ns.back() < kEven * ranks.Median())
    effect.nothing = "no rank takes longer than the median";
  if (!effect.refusal.empty() || !effect.nothing.empty()) return effect;
  const double median = ranks.Median(), fastest = ranks.own_ns.front(), slowest = ranks.own_ns.back();
  const double target = ValueFor(estimate, (median + slowest) / 2, median, fastest);
  if (ranks.mine_ns > median) {
    const double factor = std::min(1.0, target / ranks.mine_ns);
    const GpuOpTable& ops = input.trace().gpu_ops;
    times.ScaleOps([&](uint32_t op) { return ops.op_class[op] == GpuOpClass::kCommunication ? 1.0 : factor; });
    times.ScaleHost([&](uint32_t) { return factor; });
  }
  ScaleWaiting(FindCollectives(input), WaitingLeft(ranks, target), times, input.trace().gpu_ops.size());
  effect.assumptions.push_back(StrCat("what makes a rank take ", FormatPercent(slowest / median - 1),
                                      " longer than the median can be put right"));
  return effect;
}

}  // namespace

FIX(straggler) = {
    .name = "straggler",
    .help = "Bring slow ranks to the median's time for their own work",
    .safety = Safety::kExact,
    .model = {.why = "Ranks whose own work takes longer than the median's do it in the median's time, half of that in "
                     "the cautious case; the others wait so much less, by the collectives of all ranks.",
              .apply = Apply}};

}  // namespace gapless::internal
