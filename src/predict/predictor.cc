// SPDX-License-Identifier: Apache-2.0
#include "predict/predictor.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/strings.h"
#include "predict/program.h"

namespace gapless::internal {
namespace {

constexpr double kLeastShare = 0.01;  // no prediction promises more than a factor of 100

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
      calibration_(std::make_shared<const Calibration>(ledger, machine())) {}

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

Machine Predictor::machine() const {
  return job_->ranks[0].of->trace->gpu_ops.size() > 0 ? Machine::kGpu : Machine::kHost;
}

Result<std::vector<std::vector<int64_t>>> Predictor::EdgesAt(Items items, Cases cases, Prediction& prediction,
                                                             bool& last_acts) const {
  std::vector<std::vector<int64_t>> edge_ns;
  prediction.nothing.clear(), prediction.assumptions.clear(), prediction.work = 1, last_acts = false;
  for (const RankGraph& rank : job_->ranks) {
    EdgeTimes times(rank.graph, rank.edge_ns);
    for (size_t i = 0; i < items.size(); ++i) {
      auto effect = FindWhatIf(items[i].name).apply({*rank.of, *tables_}, items[i], cases[i], times);
      if (!effect) return Unexpected{effect.error()};
      if (!effect->refusal.empty() && prediction.refusal.empty()) prediction.refusal = std::move(effect->refusal);
      if (i + 1 == items.size()) last_acts = last_acts || effect->nothing.empty();
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
  bool acts = false;
  auto edge_ns = EdgesAt(items, std::vector(items.size(), Case::kExpected), prediction, acts);
  if (edge_ns && !prediction.refusal.empty()) return Fail(ErrorCode::kInput, prediction.refusal);
  return edge_ns;
}

// What the replay misses of the recording it misses of the prediction, too: both are compared as replays.
Result<Predictor::Replayed> Predictor::ReplayAt(Items items, Cases cases, Prediction& prediction) const {
  Replayed replayed;
  const auto edge_ns = EdgesAt(items, cases, prediction, replayed.last_acts);
  if (!edge_ns) return Unexpected{edge_ns.error()};
  if (!prediction.refusal.empty()) return replayed;
  const int64_t ns = StepNs(*job_, ReplayJob(*job_, *edge_ns)).value_or(check_.replayed_step_ns);
  const double share = static_cast<double>(ns) / static_cast<double>(check_.replayed_step_ns);
  replayed.share = std::max(kLeastShare, share / prediction.work);
  return replayed;
}

// The item brings little, or much, while those before it bring what is expected.
Result<Effect> Predictor::EffectOfLast(Items items, double before, Prediction& prediction) const {
  std::vector<Case> cases(items.size(), Case::kExpected);
  const auto expected = ReplayAt(items, cases, prediction);
  if (!expected) return Unexpected{expected.error()};
  if (!expected->last_acts || !prediction.refusal.empty()) return Effect{};
  Effect effect{.expected = std::log(expected->share / before)};
  for (const Case which : {Case::kLittle, Case::kMuch}) {
    Prediction aside;
    cases.back() = which;
    const auto share = ReplayAt(items, cases, aside);
    if (!share) return Unexpected{share.error()};
    const double off = std::log(share->share / expected->share);
    effect.down = std::max(effect.down, -off), effect.up = std::max(effect.up, off);
  }
  return effect;
}

// One item after the other. How far off each may be has nothing to do with the others, so that the distances add up as
// those of independent errors do. The replay's own error comes on top, once.
Result<Prediction> Predictor::Predict(const std::vector<WhatIfItem>& items) const {
  Prediction prediction{.what = items};
  const double error = std::log1p(std::abs(check_.error));
  Effect model, tested;
  double before = 1;
  for (size_t i = 0; i < items.size(); ++i) {
    prediction.safety = std::max(prediction.safety, SafetyOf(items[i].name));
    const auto effect = EffectOfLast({items.data(), i + 1}, before, prediction);
    if (!effect) return Unexpected{effect.error()};
    if (!prediction.refusal.empty()) return prediction;
    before *= std::exp(effect->expected);
    prediction.effects.push_back(calibration_->Apply(KindOf({items[i]}), *effect));
    model = model + *effect, tested = tested + prediction.effects.back();
  }
  prediction.replay_error = {.down = error, .up = error};
  prediction.model = SharesOf(model + prediction.replay_error);
  prediction.share = SharesOf(tested + prediction.replay_error);
  return prediction;
}

std::optional<double> Predictor::ExpectedOfLast(const std::vector<WhatIfItem>& items) const {
  Prediction prediction;
  const std::vector<Case> cases(items.size(), Case::kExpected);
  const Items all(items), others = all.first(all.size() - 1);
  const auto after = ReplayAt(all, cases, prediction);
  if (!after || !prediction.refusal.empty()) return std::nullopt;
  if (!after->last_acts) return 0;
  const auto before = ReplayAt(others, {cases.data(), others.size()}, prediction);
  if (!before) return std::nullopt;
  return calibration_->SlopeOf(KindOf({items.back()})) * std::log(after->share / before->share);
}

Predictor::Removed Predictor::RemovedByLast(const std::vector<WhatIfItem>& items) const {
  const auto before = Edges({items.begin(), items.end() - 1}), after = Edges(items);
  if (!before || !after) return {};
  const RankGraph& rank = main_rank();
  const Graph& graph = rank.graph;
  const Interval window = AnalysedWindow(*rank.of->trace).span;
  Removed removed;
  for (Instant to = 0; to < graph.size(); ++to) {
    if (graph.recorded_ns[to] <= window.start || graph.recorded_ns[to] > window.end) continue;
    for (uint32_t edge = graph.first_edge[to]; edge < graph.first_edge[to + 1]; ++edge) {
      const int64_t was = (*before)[0][edge], is = (*after)[0][edge];
      const EdgeKind kind = graph.edges[edge].kind;
      if (is >= was) continue;
      if (kind == EdgeKind::kGpu) removed.device_ns += was - is;
      if (kind == EdgeKind::kHost || kind == EdgeKind::kCall) removed.host_ns += was - is;
    }
  }
  const auto steps = static_cast<int64_t>(rank.span.steps());
  return {.host_ns = removed.host_ns / steps, .device_ns = removed.device_ns / steps};
}

}  // namespace gapless::internal
