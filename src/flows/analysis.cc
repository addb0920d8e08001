// SPDX-License-Identifier: Apache-2.0
// Implements RunAnalysis and RunReport. Every part of an analysis needs the one before it: the advice needs the
// tables and the tested predictions, the diagnosis needs the advice. A caller that asks for tables only never reads the
// history and never replays anything.
#include "flows/analysis.h"

#include <utility>

namespace gapless::internal {

RunAnalysis::RunAnalysis(LoadedRun loaded, const OpenOptions& options)
    : loaded_(std::move(loaded)),
      history_(options.history),
      all_steps_(options.all_steps),
      tables_(loaded_.run, options.threads) {}

const TestedPredictions& RunAnalysis::tested() const {
  read_.Call([this] { tested_ = ReadTestedPredictions(history_); });
  return *tested_;
}

const Advice& RunAnalysis::advice() const {
  advised_.Call([this] { advice_.emplace(tables_, tested().rows, all_steps_); });
  return *advice_;
}

// Advice makes its ranked diagnosis on the first call and is not safe from several threads, so that call is made under
// a OnceFlag; the calls after it only read.
const Diagnosis& RunAnalysis::diagnosis() const {
  const Advice& found = advice();
  diagnosed_.Call([&] { found.diagnosis(); });
  return found.diagnosis();
}

RunReport::RunReport(const RunAnalysis& analysis, const AnalyzeOptions& options)
    : findings_(analysis.advice().Conclude(options)),
      report_{analysis.run(),    analysis.tables(),          findings_.diagnosis,
              findings_.summary, analysis.loaded().failures, findings_.cost} {
  // Pictures need a plan, and the sweep needs a recording that can be replayed, which the pictures have shown.
  if (findings_.summary.together) report_.pictures = analysis.advice().Draw(*findings_.summary.together);
  if (report_.pictures) report_.sweep = analysis.advice().SweepKernels();
}

}  // namespace gapless::internal
