// SPDX-License-Identifier: Apache-2.0
// Ranks on CPUs wait in collectives for a slower rank.
//
// A rank that comes last to a collective finds the others waiting and leaves at once; the rank that waits least is the
// one that the others wait for. The affected time is what the other ranks wait more than that rank. The gain: all of it
// goes when the ranks become even; some rank is always last: we expect half, and promise a tenth. These shares are
// assumptions.
#include <algorithm>
#include <map>

#include "analyses/rows/host_steps.h"
#include "analyses/rows/operators.h"
#include "analyses/rows/python_time.h"
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/host_step_view.h"
#include "diagnose/python_view.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"
#include "fixes/names.h"

namespace gapless::internal::host_straggler_rule {
namespace {

constexpr double kNearlyAll = 0.9;
constexpr std::string_view kNeeds[] = {"host_steps", "python_time", "operators"};

struct Waiting {
  size_t last = 0;       // row of the rank that is waited for
  int64_t stake_ns = 0;  // affected time of all ranks
};

int64_t PerStep(const HostStepsRows& steps, size_t row, HostStepsRows::IntColumn column) {
  return steps.Int(row, column) / std::max<int64_t>(1, steps.Int(row, "steps"));
}

Waiting Read(const HostStepsRows& steps) {
  Waiting waiting;
  for (size_t row = 1; row < steps.rows(); ++row)
    if (PerStep(steps, row, "collective_ns") < PerStep(steps, waiting.last, "collective_ns")) waiting.last = row;
  const int64_t least = PerStep(steps, waiting.last, "collective_ns");
  for (size_t row = 0; row < steps.rows(); ++row)
    waiting.stake_ns += std::max<int64_t>(0, steps.Int(row, "collective_ns") - least * steps.Int(row, "steps"));
  return waiting;
}

struct Part {
  HostStepsRows::IntColumn column;
  std::string_view what, advice;
};
constexpr Part kParts[] = {
    {"data_ns", "waiting for its data loader", "check this rank's loader, its shard of the data set and its cores"},
    {"save_ns", "writing checkpoints", "write checkpoints less often, or in the background"},
    {"gc_ns", "collecting garbage", "collect garbage at the same step on all ranks, and rarely"},
    {"compile_ns", "compiling", "find out what makes this rank compile again: TORCH_LOGS=recompiles"},
    {"optimizer_ns", "its optimiser", "give all ranks the same parameters to update"},
    {"operator_ns", "its operators", "give all ranks the same work: equal batches, and cores of their own"},
    {"python_ns", "Python between operators",
     "remove what only this rank does on the host: logging, sleeping, evaluation, progress bars"},
};

// Returns the part in which the rank exceeds the mean of the other ranks most.
const Part& ReasonOf(const HostStepsRows& steps, size_t rank, int64_t& more_ns) {
  const Part* most = &kParts[0];
  more_ns = INT64_MIN;
  for (const Part& part : kParts) {
    int64_t others = 0;
    for (size_t row = 0; row < steps.rows(); ++row)
      if (row != rank) others += PerStep(steps, row, part.column);
    const int64_t more =
        PerStep(steps, rank, part.column) - others / static_cast<int64_t>(std::max<size_t>(1, steps.rows() - 1));
    if (more > more_ns) more_ns = more, most = &part;
  }
  return *most;
}

// The call in which a rank's Python spends most time, and its line or function; "" if no stacks were recorded.
struct Where {
  std::string what, place;
};

Where WhereIsPython(const PythonTimeRows& time, int64_t trace) {
  int64_t most_ns = 0;
  Where where;
  for (size_t row = 0; row < time.rows(); ++row) {
    const std::string callee = TextOr(time, row, "callee", "");
    const bool counts = time.Int(row, "trace") == trace && (IsSleep(callee) || !IsWaiting(callee));
    if (!counts || time.Int(row, "self_ns") <= most_ns) continue;
    most_ns = time.Int(row, "self_ns");
    where.place = TextOr(time, row, "source_line", TextOr(time, row, "function", ""));
    where.what = callee.empty() ? "" : StrCat(", most in ", callee);
  }
  return where;
}

// The innermost operator that takes nearly as much longer on a rank than on the others in the mean as any does, and its
// line; nothing if that is less than half of what the rank takes longer. Times are with what an operator calls: what
// holds it up may be the user's Python below it.
Where WhereAreOperators(Tables& tables, const HostStepsRows& steps, size_t late, int64_t more_ns) {
  const auto operators = tables.Get<OperatorsRows>();
  std::map<std::string_view, double> excess_ns;  // a step
  std::map<std::string_view, std::string_view> lines;
  std::multimap<int64_t, size_t> rank_of;  // trace -> rows of `steps`
  for (size_t rank = 0; rank < steps.rows(); ++rank) rank_of.emplace(steps.Int(rank, "trace"), rank);
  for (size_t row = 0; row < operators.rows(); ++row) {
    const auto [first, last] = rank_of.equal_range(operators.Int(row, "trace"));
    for (auto at = first; at != last; ++at) {
      const size_t rank = at->second;
      const double total_ns = static_cast<double>(operators.Int(row, "host_total_ns")) /
                              static_cast<double>(std::max<int64_t>(1, steps.Int(rank, "steps")));
      const std::string_view name = operators.Text(row, "name");
      excess_ns[name] += rank == late ? total_ns : -total_ns / static_cast<double>(steps.rows() - 1);
      if (rank == late) lines[name] = operators.Text(row, "source_line");
    }
  }
  const auto most = std::ranges::max_element(excess_ns, {}, [](const auto& entry) { return entry.second; });
  if (most == excess_ns.end() || 2 * most->second < static_cast<double>(more_ns)) return {};
  const double enough = kNearlyAll * most->second;
  auto innermost = most;
  for (auto entry = excess_ns.begin(); entry != excess_ns.end(); ++entry)
    if (entry->second >= enough && entry->second < innermost->second) innermost = entry;
  return {StrCat(", most in ", innermost->first), std::string(lines[innermost->first])};
}

// No rank is behind the others by more than steps vary by: none is named.
std::vector<Bottleneck> WaitingForEachOther(const HostStepView& view, const Waiting& waiting, double share) {
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("ranks wait ", view.CostText(waiting.stake_ns), " for each other");
  found.description = StrCat("For ", FormatPercent(share),
                             " of the time ranks are inside collectives that others have not reached yet and compute "
                             "nothing; no rank is behind in its own work.");
  found.evidence.push_back({.text = StrCat("waiting in collectives: ", FormatPercent(share), " of the ranks' time"),
                            .value = share,
                            .unit = "share",
                            .table = "host_steps"});
  found.recommendations.push_back(
      {"even out the work that differs from step to step, such as batch contents and host work",
       fixes::kStraggler.Item(), "", "hours"});
  const auto ns = static_cast<double>(waiting.stake_ns);
  found.gain = view.GainOf(0, ns * 0.2, ns, 0.2);
  return {std::move(found)};
}

// The waits in collectives of the rank and of another one.
std::vector<Evidence> WaitsOf(const HostStepsRows& steps, size_t last) {
  std::vector<Evidence> all;
  for (size_t row = 0; row < steps.rows(); ++row)
    if (row == last || row == (last == 0 ? 1U : 0U))
      all.push_back(
          {.text = StrCat("rank ", steps.Int(row, "rank"), " spends ",
                          FormatDuration(PerStep(steps, row, "collective_ns")), " of a step waiting in collectives"),
           .value = static_cast<double>(PerStep(steps, row, "collective_ns")),
           .unit = "ns",
           .table = "host_steps"});
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const HostStepView view(tables);
  if (!view.applies(tables) || view.ranks() < 2) return std::vector<Bottleneck>{};
  const HostStepsRows& steps = view.table();
  const Waiting waiting = Read(steps);
  const double share = view.Share(waiting.stake_ns);
  if (share < kStragglerShare) return std::vector<Bottleneck>{};
  int64_t more_ns = 0;
  const Part& reason = ReasonOf(steps, waiting.last, more_ns);
  const std::string name =
      steps.IsNull(waiting.last, "rank") ? "one process" : StrCat("rank ", steps.Int(waiting.last, "rank"));
  const auto step_ns = static_cast<double>(PerStep(steps, waiting.last, "wall_ns"));
  if (static_cast<double>(more_ns) < kLateShare * step_ns) return WaitingForEachOther(view, waiting, share);
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat(name, " is late: the others wait ", view.CostText(waiting.stake_ns), " for it");
  found.description = StrCat("For ", FormatPercent(share), " of the time ranks are inside collectives that ", name,
                             " has not reached yet and compute nothing.");
  found.evidence = WaitsOf(steps, waiting.last);
  Where where;
  if (reason.column == "python_ns")
    where = WhereIsPython(tables.Get<PythonTimeRows>(), steps.Int(waiting.last, "trace"));
  if (reason.column == "operator_ns") where = WhereAreOperators(tables, steps, waiting.last, more_ns);
  found.evidence.push_back(
      {.text = StrCat(name, " takes ", FormatDuration(more_ns), " a step longer than the others in ", reason.what,
                      where.what, InLine(where.place)),
       .value = static_cast<double>(more_ns),
       .unit = "ns",
       .table = "host_steps",
       .source = where.place});
  found.evidence.push_back(RecordingOf(name, tables.run(), steps.Int(waiting.last, "trace")));
  found.recommendations.push_back(
      {StrCat(name, ": ", reason.advice, InLine(where.place)), fixes::kStraggler.Item(), "", "hours"});
  const auto ns = static_cast<double>(waiting.stake_ns);
  found.gain = view.GainOf(ns * 0.1, ns * 0.5, ns, 0.4);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(host_straggler) = {
    .id = "host_straggler",
    .type = BottleneckType::kMultiGpuComm,
    .title = "Ranks on CPUs wait for a slower one",
    .why =
        "Of processes that use no GPU: time of the steps in which a collective is under way and no operator runs. The "
        "others wait for the rank with the least of that time; what the others have beyond it is the affected time. "
        "Reported at 5 % of the analysed time or more, as straggler does where GPUs wait.",
    .saves = "1/10, ½, all of it; where no single rank is late 0, 1/5, all",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::host_straggler_rule
