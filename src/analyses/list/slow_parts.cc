// SPDX-License-Identifier: Apache-2.0
// The parts of a job that are slower than others that do the same: ranks, hosts, links.
//
// In a job that waits for its slowest rank all steps take equally long, so step times say nothing of who is slow. Two
// things do, and neither needs the ranks' clocks to agree:
//   own time    the kernels of a rank, and the time in which its device idles for its own host or loader. Waiting for
//               others happens inside kernels of communication, so it is not in there. (slow_parts/own_time.cc)
//   transfers   a collective takes every rank as long as its transfer once the last rank has come: the shortest
//               duration over its ranks. Groups that send the same are held against each other. (slow_parts/links.cc)
// Each rank is held against those that do the same work (the same kernels, as often), each group against those with the
// same messages; the measures are medians over steps, so that what happened once counts for nothing. Distances from the
// median of peers are taken in units of their usual spread (median absolute deviation), as robust outlier tests do
// (Iglewicz and Hoaglin 1993), and all tests of a job together are corrected by Benjamini and Hochberg (1995), so
// that a job of a thousand ranks in which nothing is wrong has nobody named in 99 of 100 cases. Only what costs 2 % of
// a step is named, however sure it is. A part that cannot be told from others by what was recorded (a link within a
// group whose members meet nowhere else) is named as the group.
#include "analyses/rows/slow_parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyses/columns.h"
#include "analyses/list/slow_parts/part.h"
#include "trace/process_groups.h"

namespace gapless::internal::slow_parts_analysis {

double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  if (values.size() % 2 == 1) return *half;
  return (*half + *std::max_element(values.begin(), half)) / 2;
}

double SpreadOf(std::span<const double> values, double middle) {
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return 1.4826 * MedianOf(std::move(distances));
}

std::vector<double> AdjustedForMany(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) { return p[a] > p[b]; });
  std::vector<double> q(p.size());
  double least = 1;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto rank = static_cast<double>(order.size() - i);
    least = std::min(least, p[order[i]] * static_cast<double>(p.size()) / rank);
    q[order[i]] = least;
  }
  return q;
}

namespace {

Result<Table> Compute(const Run& run, Tables& tables) {
  TableOf<SlowPartsRows> table;
  if (run.primary().size() < kFewestPeers) return table;
  std::vector<SlowPart> parts = SlowByOwnTime(tables);
  for (SlowPart& part : SlowByLinks(tables)) parts.push_back(std::move(part));
  std::ranges::stable_sort(parts, std::greater(), &SlowPart::excess_ns);
  for (const SlowPart& part : parts) {
    auto row = table.Row(*part.longest);
    row.Set("part", part.part).Set("kind", part.kind).Set("ranks", RankStretches(part.ranks)).Set("host", part.host);
    row.Set("group", part.group).Set("what", part.what).Set("late", part.late).Set("tried", part.tried);
    row.Set("ratio", part.ratio).Set("excess_ns", part.excess_ns).Set("q_value", part.q).Set("tests", part.tests);
  }
  return table;
}

}  // namespace

ANALYSIS(slow_parts) = AnalysisOf<SlowPartsRows>({.run = Compute, .compares_ranks = true});

}  // namespace gapless::internal::slow_parts_analysis
