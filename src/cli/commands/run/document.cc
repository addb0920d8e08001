// SPDX-License-Identifier: Apache-2.0
// Fills the documents of `gapless run`.
#include "cli/commands/run/document.h"

#include "base/redact.h"
#include "cli/output.h"

namespace gapless::internal {

std::string PrintedJson(const RunPlan& plan) {
  return DocumentOf(
      "run",
      documents::PrintedRun{
          RedactCommand(plan.command), {plan.use.environment.begin(), plan.use.environment.end()}, NeedGapless(plan)},
      plan.use.notes);
}

std::string ResultJson(const RunPlan& plan, const LaunchResult& result, const FixWatch& watch) {
  documents::Run document{.recipe = plan.path,
                          .exit_status = result.exit_status,
                          .signal = result.signal,
                          .unreported = watch.Unreported(plan.use.fixes)};
  for (const ReportedFix& report : watch.reports())
    document.fixes.push_back(
        {report.change.fix, report.change.value, report.change.state, report.change.what, report.pids.size()});
  return DocumentOf("run", document, plan.use.notes);
}

}  // namespace gapless::internal
