// SPDX-License-Identifier: Apache-2.0
// Implements Optimize() over flows/optimization.h: options go in as they are, results come out as values.
//
// The output of the measured program goes to standard error, because standard output belongs to the caller. Warnings of
// the flow are put before those of the planner, in the order they occurred.
#include "gapless/optimize.h"

#include <utility>

#include "flows/optimization.h"

namespace gapless {
namespace {

FixDecision DecisionFrom(const internal::Decision& decision) {
  return {.fix = decision.item.ToString(),
          .outcome = decision.outcome,
          .reason = decision.reason,
          .safety = decision.item.Class(),
          .predicted = decision.predicted,
          .measured = decision.measured,
          .pairs = decision.pairs};
}

// Translates the outcome. Memory counts as saved only if both runs measured it.
OptimizeResult ResultFrom(internal::Optimization done) {
  const internal::Optimized& result = done.result;
  OptimizeResult found{.proved = internal::IsProved(result),
                       .speedup = result.speedup,
                       .pairs = result.pairs,
                       .against = result.against,
                       .step_before_ms = result.before.step_ms,
                       .bottlenecks = std::move(done.bottlenecks),
                       .recipe = std::move(done.files.recipe),
                       .candidate = std::move(done.files.candidate),
                       .patch = std::move(done.files.patch_file),
                       .warnings = result.warnings,
                       .took_s = result.took_s,
                       .interrupted = result.interrupted};
  for (const internal::Decision& decision : result.decisions) found.decisions.push_back(DecisionFrom(decision));
  if (!result.after) return found;
  found.step_after_ms = result.after->step_ms;
  if (result.before.memory_bytes && result.after->memory_bytes)
    found.memory_saved_bytes = *result.before.memory_bytes - *result.after->memory_bytes;
  return found;
}

}  // namespace

// Listens to decisions only; the other events are for progress lines.
Result<OptimizeResult> Optimize(const std::vector<std::string>& command, const OptimizeOptions& options) {
  internal::RunRequest request;
  request.command = command;
  request.output_to_stderr = true;
  std::vector<std::string> warnings;
  const internal::OptimizeWatch watch{
      .on_warning = [&](const std::string& sentence) { warnings.push_back(sentence); },
      .on_event =
          [&](const internal::PlannerEvent& event) {
            if (event.kind == internal::PlannerEvent::Kind::kDecided && options.on_decision)
              options.on_decision(DecisionFrom(*event.decision));
          }};
  auto done = internal::RunOptimization({.request = std::move(request), .options = options}, watch);
  if (!done) return Unexpected{std::move(done.error())};
  OptimizeResult found = ResultFrom(std::move(*done));
  found.warnings.insert(found.warnings.begin(), warnings.begin(), warnings.end());
  return found;
}

}  // namespace gapless
