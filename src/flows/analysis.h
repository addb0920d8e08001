// SPDX-License-Identifier: Apache-2.0
// The one way from a run that was loaded to what is reported of it: tables, advice with the tested predictions of the
// program and of the user, conclusion, pictures of a step, report. The program, the C++ library and every verb that
// analyses take it, so that all give the same numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/once_flag.h"
#include "flows/tested_predictions.h"
#include "ingest/load.h"
#include "predict/advice.h"
#include "predict/predictor.h"
#include "report/renderer.h"

namespace gapless::internal {

constexpr int kMinReportWidth = 40, kMaxReportWidth = 400;  // columns that a report can fill

// Computes each part when it is first asked for, and once. Safe from several threads.
class RunAnalysis {
 public:
  // Takes `threads` and `history` of the options that the run was loaded with.
  explicit RunAnalysis(LoadedRun loaded, const OpenOptions& options = {});
  RunAnalysis(const RunAnalysis&) = delete;
  RunAnalysis& operator=(const RunAnalysis&) = delete;

  const LoadedRun& loaded() const { return loaded_; }
  const Run& run() const { return loaded_.run; }
  Tables& tables() const { return tables_; }
  bool all_steps() const { return all_steps_; }

  const TestedPredictions& tested() const;
  const Advice& advice() const;
  // All rules' bottlenecks, ranked.
  const Diagnosis& diagnosis() const;

 private:
  LoadedRun loaded_;
  std::string history_;
  bool all_steps_;
  mutable Tables tables_;
  mutable OnceFlag read_, advised_, diagnosed_;
  mutable std::optional<TestedPredictions> tested_{};
  mutable std::optional<Advice> advice_{};
};

// All that a renderer shows of an analysis, which outlives it.
class RunReport {
 public:
  RunReport(const RunAnalysis& analysis, const AnalyzeOptions& options);
  RunReport(const RunReport&) = delete;
  RunReport& operator=(const RunReport&) = delete;

  const Report& report() const { return report_; }

 private:
  Findings findings_;
  Report report_;
};

// The predictor of a run, with the user's own tests. An error: nothing was recorded that can be replayed.
Result<Predictor> PredictorOf(const RunAnalysis& analysis);
// Predicts each combination; without any, each fix alone whose model needs no value, the best first. The predictor has
// passed its self-check. An error: an item cannot be read.
Result<std::vector<Prediction>> PredictEach(const RunAnalysis& analysis, const Predictor& predictor,
                                            const std::vector<std::vector<WhatIfItem>>& combinations);
// The memory alone that each combination frees, for a run whose time cannot be predicted for the reason `why`: one
// prediction for each; none where nothing is known of any.
std::vector<Prediction> PredictMemory(const RunAnalysis& analysis, const std::string& why,
                                      const std::vector<std::vector<WhatIfItem>>& combinations);

}  // namespace gapless::internal
