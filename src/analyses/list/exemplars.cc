// SPDX-License-Identifier: Apache-2.0
// The recordings to look into when single events are wanted: the one that is slow, the one that others wait for, the
// one with the longest step, and a median one to hold them against. Of summaries it names what `gapless analyze
// --drill` opens.
#include "analyses/rows/exemplars.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/rows/ranks.h"
#include "analyses/rows/slow_parts.h"
#include "analyses/rows/steps.h"

namespace gapless::internal::exemplars_analysis {
namespace {

// The row of each recording's longest complete step.
std::map<int64_t, size_t> LongestSteps(const StepsRows& steps) {
  std::map<int64_t, size_t> longest;
  for (size_t row = 0; row < steps.rows(); ++row) {
    if (steps.Int(row, "complete") == 0 || steps.IsNull(row, "dur_ns")) continue;
    const auto [at, is_new] = longest.try_emplace(steps.Int(row, "trace"), row);
    if (!is_new && steps.Int(row, "dur_ns") > steps.Int(at->second, "dur_ns")) at->second = row;
  }
  return longest;
}

std::optional<int64_t> WaitedFor(const RanksRows& ranks) {
  std::optional<size_t> most;
  for (size_t row = 0; row < ranks.rows(); ++row)
    if (ranks.Int(row, "caused_wait_ns") > (most ? ranks.Int(*most, "caused_wait_ns") : 0)) most = row;
  return most ? std::optional(ranks.Int(*most, "trace")) : std::nullopt;
}

std::optional<int64_t> Median(const RanksRows& ranks) {
  std::vector<std::pair<int64_t, int64_t>> own;  // with the recording
  for (size_t row = 0; row < ranks.rows(); ++row)
    own.emplace_back(ranks.Int(row, "own_per_step_ns"), ranks.Int(row, "trace"));
  if (own.size() < 3) return std::nullopt;
  const auto middle = own.begin() + static_cast<std::ptrdiff_t>(own.size() / 2);
  std::ranges::nth_element(own, middle);
  return middle->second;
}

Result<Table> Compute(const Run& run, Tables& tables) {
  TableOf<ExemplarsRows> table;
  const auto ranks = tables.Get<RanksRows>();
  const auto steps = tables.Get<StepsRows>();
  const std::map<int64_t, size_t> longest = LongestSteps(steps);
  std::vector<std::pair<int64_t, std::string_view>> chosen;
  const auto choose = [&](std::optional<int64_t> trace, std::string_view why) {
    if (trace && std::ranges::count(chosen, *trace, [](const auto& one) { return one.first; }) == 0)
      chosen.emplace_back(*trace, why);
  };
  if (const auto slow = tables.Get<SlowPartsRows>(); slow.rows() > 0) choose(slow.Int(0, "trace"), "slow");
  choose(WaitedFor(ranks), "waited_for");
  const auto slowest = std::ranges::max_element(
      longest, {}, [&](const auto& one) { return std::pair(steps.Int(one.second, "dur_ns"), -one.first); });
  if (slowest != longest.end()) choose(slowest->first, "longest_step");
  choose(Median(ranks), "median");
  for (const auto& [trace, why] : chosen) {
    const RunTrace& of = run.traces()[static_cast<size_t>(trace)];
    auto row = table.Row(of);
    row.Set("why", why).Set("path", std::string_view(of.trace->info.path));
    if (const auto its = longest.find(trace); its != longest.end())
      row.Set("step", steps.Int(its->second, "step"))
          .Set("ts_ns", steps.Int(its->second, "ts_ns"))
          .Set("dur_ns", steps.Int(its->second, "dur_ns"));
  }
  return table;
}

}  // namespace

ANALYSIS(exemplars) = AnalysisOf<ExemplarsRows>({.run = Compute, .compares_ranks = true});

}  // namespace gapless::internal::exemplars_analysis
