// SPDX-License-Identifier: Apache-2.0
// Iterations of a serving engine by phase: requests in flight, tokens, throughput (engine_iteration.h).
//
// An iteration lasts as long as its step window; tokens per second are tokens computed over the time of those windows,
// and so leave out what passes between iterations that do not follow each other.
#include "analyses/rows/engine_steps.h"

#include <array>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/engine_iteration.h"

namespace gapless::internal::engine_steps_analysis {
namespace {

struct Group {
  std::vector<int64_t> lengths;
  int64_t requests = 0, prefill = 0, decode = 0, context = 0, total_ns = 0;
  bool prefill_known = true, decode_known = true, context_known = true;

  void Add(const EngineIteration& engine_iteration, int64_t ns) {
    lengths.push_back(ns), total_ns += ns;
    requests += engine_iteration.prefill_requests + engine_iteration.decode_requests;
    prefill += engine_iteration.prefill_tokens.value_or(0), decode += engine_iteration.decode_tokens.value_or(0);
    context += engine_iteration.context_tokens.value_or(0);
    prefill_known = prefill_known && engine_iteration.prefill_tokens;
    decode_known = decode_known && engine_iteration.decode_tokens;
    context_known = context_known && engine_iteration.context_tokens;
  }
};

void AddRow(const TraceTimeline& timeline, Phase phase, Group& group, TableOf<EngineStepsRows>& table) {
  const auto iterations = static_cast<int64_t>(group.lengths.size());
  auto row = table.Row(*timeline.of);
  row.Set("phase", kPhaseNames[static_cast<size_t>(phase)]).Set("iterations", iterations);
  row.Set("requests_per_iteration", ShareOf(group.requests, iterations));
  if (group.prefill_known) row.Set("prefill_tokens", group.prefill);
  if (group.decode_known) row.Set("decode_tokens", group.decode);
  if (group.context_known) row.Set("context_per_request", ShareOf(group.context, group.requests));
  row.Set("total_ns", group.total_ns).Set("median_ns", Percentile(group.lengths, 0.5));
  if (group.prefill_known && group.decode_known && group.total_ns > 0) {
    const auto tokens = static_cast<double>(group.prefill + group.decode);
    row.Set("tokens_per_second", tokens * 1e9 / static_cast<double>(group.total_ns));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<EngineStepsRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    std::array<Group, std::size(kPhaseNames)> groups;
    const Trace& trace = timeline.trace();
    for (const StepWindow& step : timeline.window.steps)
      if (const auto one = ReadEngineIteration(trace.Text(trace.steps.name[step.step.value])))
        groups[static_cast<size_t>(one->phase())].Add(*one, step.span.length());
    for (size_t phase = 0; phase < groups.size(); ++phase)
      if (!groups[phase].lengths.empty()) AddRow(timeline, static_cast<Phase>(phase), groups[phase], table);
  }
  return table;
}

}  // namespace

ANALYSIS(engine_steps) = AnalysisOf<EngineStepsRows>({.run = Compute});

}  // namespace gapless::internal::engine_steps_analysis
