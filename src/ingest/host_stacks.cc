// SPDX-License-Identifier: Apache-2.0
#include "ingest/host_stacks.h"

#include <algorithm>
#include <set>
#include <vector>

namespace gapless::internal {

HostStacks::Sums& HostStacks::SumsOf(const HostFrame& frame, bool of_line) {
  using View = std::tuple<std::string_view, std::string_view, int64_t>;
  auto& sums = of_line ? lines_sums_ : functions_;
  const int64_t line = of_line || !lines_ ? frame.line : kAbsent;
  const View key{frame.file, of_line ? std::string_view() : frame.function, line};
  const auto known = sums.lower_bound(key);
  if (known != sums.end() && View(known->first) == key) return known->second;
  return sums.emplace_hint(known, Key(key), Sums())->second;
}

void HostStacks::Add(std::span<const HostFrame> stack, const HostSample& sample) {
  if (stack.empty() || sample.count <= 0 || sample.weight_ns == 0) return;
  ++rows_;
  const bool timed = sample.weight_ns != kAbsent;
  timed_ = timed_ || timed;
  const int64_t ns = timed ? sample.weight_ns : 0;
  StackId at{};
  std::set<const Sums*> seen;
  const auto count = [&](Sums& sums, bool innermost) {
    if (seen.insert(&sums).second) sums.total_ns += ns, sums.total_samples += sample.count;
    if (innermost) sums.self_ns += ns, sums.self_samples += sample.count;
  };
  for (size_t i = 0; i < stack.size(); ++i) {
    const HostFrame& frame = stack[i];
    const bool innermost = i + 1 == stack.size();
    at = builder_.AddFrame({.parent = at, .file = frame.file, .line = frame.line, .function = frame.function});
    count(SumsOf(frame, false), innermost);
    if (lines_ && frame.line != kAbsent && !frame.file.empty()) count(SumsOf(frame, true), innermost);
  }
  shard_.Add(SampleRow{.ts_ns = sample.ts_ns,
                       .tid = sample.tid,
                       .stack = at,
                       .weight_ns = sample.weight_ns,
                       .count = sample.count == 1 ? kAbsent : sample.count});
}

void HostStacks::AddRow(const Key& key, const Sums& sums, bool timed) {
  const auto& [file, function, line] = key;
  HostFunctionRow row{.file = file, .line = line, .function = function};
  if (timed)
    row.self_ns = sums.self_ns, row.total_ns = sums.total_ns;
  else
    row.self_samples = sums.self_samples, row.total_samples = sums.total_samples;
  builder_.AddHostFunction(row);
}

void HostStacks::Finish() {
  for (const auto* all : {&functions_, &lines_sums_}) {
    std::vector<const std::pair<const Key, Sums>*> ordered;
    for (const auto& entry : *all) ordered.push_back(&entry);
    std::ranges::stable_sort(ordered, [&](const auto* a, const auto* b) {
      return timed_ ? a->second.self_ns > b->second.self_ns : a->second.self_samples > b->second.self_samples;
    });
    for (const auto* entry : ordered) AddRow(entry->first, entry->second, timed_);
  }
}

void CountTimeless(TraceBuilder& builder) {
  builder.Count("no_times", Severity::kInfo, 1, kAbsent,
                "the profile says how often each stack was met, not when: it is a sum over the whole recording");
}

}  // namespace gapless::internal
