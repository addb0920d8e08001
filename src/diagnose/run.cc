// SPDX-License-Identifier: Apache-2.0
// Runs the rules on the tables, screens their findings, and ranks them.
#include <algorithm>

#include "analyses/rows/idle.h"
#include "base/timings.h"
#include "diagnose/rule.h"
#include "diagnose/screening.h"

namespace gapless::internal {

Result<std::vector<Bottleneck>> CheckRule(const Rule& rule, Tables& tables) {
  const TimedPart timed("rule", rule.id);
  Result<std::vector<Bottleneck>> found = rule.check(tables);
  if (!found) return found;
  for (Bottleneck& bottleneck : *found) {
    bottleneck.id = rule.id;
    if (!rule.types_differ) bottleneck.type = rule.type;
    if (!bottleneck.share_of_step) continue;
    // Sums of kernels that run at once can pass the time there is.
    bottleneck.share_of_step = std::min(*bottleneck.share_of_step, 1.0);
    if (bottleneck.severity == 0) bottleneck.severity = SeverityOfShare(*bottleneck.share_of_step);
  }
  return found;
}

bool RanksBefore(const Bottleneck& a, const Bottleneck& b) {
  const bool a_first = JudgesRecording(a), b_first = JudgesRecording(b);
  if (a_first != b_first) return a_first;
  const double a_gain = a.gain ? a.gain->expected : 1, b_gain = b.gain ? b.gain->expected : 1;
  return a_gain != b_gain ? a_gain > b_gain : a.severity > b.severity;
}

Diagnosis Diagnose(Tables& tables) {
  Diagnosis diagnosis;
  std::vector<std::string_view> needs;
  for (const Rule* rule : AllRules())
    for (const std::string_view need : rule->needs)
      if (need != IdleRows::kName) needs.push_back(need);  // rules ask for its longest rows alone
  tables.Prepare(std::move(needs));
  for (const Rule* rule : AllRules()) {
    Result<std::vector<Bottleneck>> found = CheckRule(*rule, tables);
    if (!found) {
      diagnosis.failures.push_back({rule->id, found.error()});
      continue;
    }
    for (Bottleneck& bottleneck : *found) diagnosis.bottlenecks.push_back(std::move(bottleneck));
  }
  Screen(tables.run(), diagnosis.bottlenecks);
  const auto is_found = [&](const std::string& id) {
    return std::any_of(diagnosis.bottlenecks.begin(), diagnosis.bottlenecks.end(),
                       [&](const Bottleneck& bottleneck) { return bottleneck.id == id; });
  };
  for (Bottleneck& bottleneck : diagnosis.bottlenecks)
    if (!is_found(bottleneck.part_of)) bottleneck.part_of.clear();
  std::stable_sort(diagnosis.bottlenecks.begin(), diagnosis.bottlenecks.end(), RanksBefore);
  return diagnosis;
}

}  // namespace gapless::internal
