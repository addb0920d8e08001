// SPDX-License-Identifier: Apache-2.0
// Implements RunAnalysis and RunReport. Every part of an analysis needs the one before it: the advice needs the
// tables and the tested predictions, the diagnosis needs the advice. A caller that asks for tables only never reads the
// history and never replays anything.
#include "flows/analysis.h"

#include <algorithm>
#include <utility>

#include "collect/manifest.h"
#include "report/about.h"

namespace gapless::internal {
namespace {

// The combinations that were asked for, or each fix alone whose model needs no value.
std::vector<std::vector<WhatIfItem>> CombinationsOf(const std::vector<std::vector<WhatIfItem>>& asked) {
  if (!asked.empty()) return asked;
  std::vector<std::vector<WhatIfItem>> each;
  for (const Fix* fix : FixesWithModel())
    if (!fix->model.needs_value()) each.push_back({{.name = std::string(fix->name)}});
  return each;
}

}  // namespace

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
  report_.path = analysis.advice().Path();
  if (const auto folder = RunFolderOf(analysis.run()); !folder.empty())
    report_.command = CommandOfRun(std::string(folder));
}

Result<Predictor> PredictorOf(const RunAnalysis& analysis) {
  auto predictor = Predictor::ForRun(analysis.tables(), analysis.tested().rows, analysis.all_steps());
  if (!predictor)
    return Fail(ErrorCode::kInput, "cannot predict: the recording has no operators and no GPU operations");
  return *std::move(predictor);
}

Result<std::vector<Prediction>> PredictEach(const RunAnalysis& analysis, const Predictor& predictor,
                                            const std::vector<std::vector<WhatIfItem>>& combinations) {
  std::vector<Prediction> predictions;
  for (const auto& items : CombinationsOf(combinations)) {
    GAPLESS_ASSIGN(auto prediction, predictor.Predict(items));
    prediction.memory = FreedBy(analysis.tables(), items);
    predictions.push_back(std::move(prediction));
  }
  if (!combinations.empty()) return predictions;
  std::ranges::stable_sort(predictions, [](const Prediction& a, const Prediction& b) {
    if (a.refusal.empty() != b.refusal.empty()) return a.refusal.empty();
    return a.share.expected < b.share.expected;
  });
  return predictions;
}

std::vector<Prediction> PredictMemory(const RunAnalysis& analysis, const std::string& why,
                                      const std::vector<std::vector<WhatIfItem>>& combinations) {
  std::vector<Prediction> predictions;
  bool is_known = false;
  for (const auto& items : CombinationsOf(combinations)) {
    Prediction prediction{.what = items, .refusal = why, .memory = FreedBy(analysis.tables(), items)};
    is_known = is_known || !prediction.memory.empty();
    if (!combinations.empty() || !prediction.memory.empty()) predictions.push_back(std::move(prediction));
  }
  if (!is_known) predictions.clear();
  return predictions;
}

}  // namespace gapless::internal
