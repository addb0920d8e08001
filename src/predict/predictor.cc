// SPDX-License-Identifier: Apache-2.0
#include "predict/predictor.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analyses/recording_overhead.h"
#include "base/strings.h"
#include "predict/program.h"

namespace gapless::internal {
namespace {

constexpr double kLeastRecordingCost = 0.02;  // of a step; less is not worth a sentence
constexpr double kLeastShare = 0.01;          // no prediction promises more than a factor of 100

double RecordingTimes(Case which) { return Pick(which, kLittleOverhead, 1, kMuchOverhead); }

// What can be replayed, the one with the most to see first.
std::vector<const RunTrace*> Candidates(const Run& run) {
  std::vector<std::pair<size_t, const RunTrace*>> device, host;
  for (const RunTrace* of : run.primary()) {
    const Trace& trace = *of->trace;
    size_t operators = 0;
    for (uint32_t row = 0; row < trace.slices.size(); ++row) operators += IsOwnWork(trace, row) ? 1 : 0;
    if (trace.gpu_ops.size() > 0) device.emplace_back(trace.gpu_ops.size(), of);
    if (operators > 0) host.emplace_back(operators, of);
  }
  std::vector<std::pair<size_t, const RunTrace*>>& chosen = device.empty() ? host : device;
  std::stable_sort(chosen.begin(), chosen.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const RunTrace*> candidates;
  for (const auto& [size, of] : chosen) candidates.push_back(of);
  return candidates;
}

}  // namespace

std::string KindOf(const std::vector<WhatIfItem>& items) {
  std::set<std::string> names;
  for (const WhatIfItem& item : items) names.insert(item.name);
  return Join(std::vector<std::string>(names.begin(), names.end()), "+");
}

Predictor::Predictor(Job job, SelfCheck check, Tables& tables, std::span<const AdviceRow> ledger)
    : job_(std::make_shared<const Job>(std::move(job))),
      check_(std::move(check)),
      tables_(&tables),
      calibration_(std::make_shared<const Calibration>(ledger)) {
  for (const Case which : {Case::kLittle, Case::kExpected, Case::kMuch}) {
    const auto step = StepNs(*job_, ReplayJob(*job_, BareEdges(*job_, RecordingTimes(which))));
    bare_step_ns_[static_cast<size_t>(which)] = step.value_or(check_.replayed_step_ns);
  }
}

std::optional<Predictor> Predictor::Make(Tables& tables, std::span<const AdviceRow> ledger) {
  const std::vector<const RunTrace*> candidates = Candidates(tables.run());
  if (candidates.empty()) return std::nullopt;
  Job job = BuildJob(candidates);
  SelfCheck check = CheckJob(job);
  if (job.ranks.size() == 1 || check.accepted()) return Predictor(std::move(job), std::move(check), tables, ledger);
  Job alone = BuildJob({candidates.data(), 1});
  SelfCheck its_check = CheckJob(alone);
  Predictor predictor(std::move(alone), std::move(its_check), tables, ledger);
  predictor.apart_ = std::move(check.refusal);
  return predictor;
}

Result<std::vector<std::vector<int64_t>>> Predictor::EdgesAt(const std::vector<WhatIfItem>& items, Cases cases,
                                                             Prediction& prediction, Case recording) const {
  std::vector<std::vector<int64_t>> edge_ns;
  prediction.nothing.clear(), prediction.assumptions.clear(), prediction.work = 1;
  for (const RankGraph& rank : job_->ranks) {
    EdgeTimes times(rank.graph, WithoutRecording(rank.edge_ns, rank.recorded, RecordingTimes(recording)));
    for (size_t i = 0; i < items.size(); ++i) {
      auto effect = FindWhatIf(items[i].name).apply({*rank.of, *tables_}, items[i], cases[i], times);
      if (!effect) return Unexpected{effect.error()};
      if (!effect->refusal.empty() && prediction.refusal.empty()) prediction.refusal = std::move(effect->refusal);
      if (&rank != &job_->ranks[0]) continue;
      prediction.work *= effect->samples_factor;
      if (!effect->nothing.empty()) prediction.nothing.push_back(std::move(effect->nothing));
      for (std::string& one : effect->assumptions) prediction.assumptions.push_back(std::move(one));
    }
    edge_ns.push_back(times.ns());
  }
  return edge_ns;
}

Result<std::vector<std::vector<int64_t>>> Predictor::Edges(const std::vector<WhatIfItem>& items) const {
  Prediction prediction;
  auto edge_ns = EdgesAt(items, std::vector(items.size(), Case::kExpected), prediction, Case::kExpected);
  if (edge_ns && !prediction.refusal.empty()) return Fail(ErrorCode::kInput, prediction.refusal);
  return edge_ns;
}

// What the replay misses of the recording it misses of the prediction, too: both are compared as replays.
Result<double> Predictor::ShareAt(const std::vector<WhatIfItem>& items, Cases cases, Prediction& prediction,
                                  Case recording) const {
  const auto edge_ns = EdgesAt(items, cases, prediction, recording);
  if (!edge_ns) return Unexpected{edge_ns.error()};
  if (!prediction.refusal.empty()) return 1.0;
  const auto replayed = StepNs(*job_, ReplayJob(*job_, *edge_ns));
  const int64_t bare = bare_step_ns_[static_cast<size_t>(recording)];
  const double share = static_cast<double>(replayed.value_or(bare)) / static_cast<double>(bare);
  return std::max(kLeastShare, share / prediction.work);
}

// How far off each fix may be has nothing to do with the others: one after the other brings little, or much, while the
// others bring what is expected, and the distances add up as those of independent errors do. The replay's own error
// comes on top.
Result<StepShares> Predictor::ModelOf(const std::vector<WhatIfItem>& items, double expected) const {
  std::vector<Case> cases(items.size(), Case::kExpected);
  double down = 0, up = 0;  // squares of logarithms
  for (size_t i = 0; i < items.size(); ++i) {
    double least = 0, most = 0;
    for (const Case which : {Case::kLittle, Case::kMuch}) {
      Prediction aside;
      cases[i] = which;
      const auto share = ShareAt(items, cases, aside);
      if (!share) return Unexpected{share.error()};
      least = std::min(least, std::log(*share / expected)), most = std::max(most, std::log(*share / expected));
    }
    cases[i] = Case::kExpected;
    down += least * least, up += most * most;
  }
  for (const Case recording : {Case::kLittle, Case::kMuch}) {
    Prediction aside;
    const auto share = ShareAt(items, cases, aside, recording);
    if (!share) return Unexpected{share.error()};
    const double off = std::log(*share / expected);
    (off < 0 ? down : up) += off * off;
  }
  const double error = std::abs(check_.error);
  return StepShares{.low = std::max(kLeastShare, expected * std::exp(-std::sqrt(down)) - error),
                    .expected = expected,
                    .high = expected * std::exp(std::sqrt(up)) + error};
}

Result<Prediction> Predictor::Predict(const std::vector<WhatIfItem>& items) const {
  Prediction prediction{.what = items};
  for (const WhatIfItem& item : items) prediction.safety = std::max(prediction.safety, SafetyOf(item.name));
  const auto expected = ShareAt(items, std::vector(items.size(), Case::kExpected), prediction);
  if (!expected) return Unexpected{expected.error()};
  if (!prediction.refusal.empty()) return prediction;
  const auto model = ModelOf(items, *expected);
  if (!model) return Unexpected{model.error()};
  prediction.model = *model;
  prediction.share = calibration_->Apply(KindOf(items), prediction.model);
  const int64_t recording_ns = check_.replayed_step_ns - bare_step_ns();
  if (static_cast<double>(recording_ns) >= kLeastRecordingCost * static_cast<double>(check_.replayed_step_ns))
    prediction.assumptions.push_back(StrCat("recording slowed the host down, by about ", FormatDuration(recording_ns),
                                            " a step, which is taken out of both steps"));
  return prediction;
}

std::optional<double> Predictor::ExpectedShare(const std::vector<WhatIfItem>& items) const {
  Prediction prediction;
  const auto share = ShareAt(items, std::vector(items.size(), Case::kExpected), prediction);
  return share && prediction.refusal.empty() ? std::optional(*share) : std::nullopt;
}

}  // namespace gapless::internal
