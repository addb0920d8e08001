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

constexpr double kMinRecordingCost = 0.02;  // of a step; less is not worth a sentence
constexpr double kMinShare = 0.01;          // no prediction promises more than a factor of 100

constexpr Effect kNoEffect{.down = kMinWidth, .up = kMinWidth};

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
      calibration_(std::make_shared<const Calibration>(ledger, machine())) {
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

Machine Predictor::machine() const {
  return job_->ranks[0].of->trace->gpu_ops.size() > 0 ? Machine::kGpu : Machine::kHost;
}

Predictor::Made Predictor::Nothing(Case recording) const {
  Made made{.recording = recording};
  for (const RankGraph& rank : job_->ranks)
    made.times.emplace_back(rank.graph, WithoutRecording(rank.edge_ns, rank.recorded, RecordingTimes(recording)));
  return made;
}

// What the replay misses of the recording it misses of the prediction, too: both are compared as replays.
Result<Predictor::Made> Predictor::With(const Made& before, const WhatIfItem& item, Case which) const {
  Made made = before;
  made.acts = false;
  std::vector<std::vector<int64_t>> edge_ns;
  for (size_t i = 0; i < job_->ranks.size(); ++i) {
    auto effect = FindWhatIf(item.name).apply({*job_->ranks[i].of, *tables_}, item, which, made.times[i]);
    if (!effect) return Unexpected{effect.error()};
    if (!effect->refusal.empty()) return Fail(ErrorCode::kInput, std::move(effect->refusal));
    made.acts = made.acts || effect->nothing.empty();
    edge_ns.push_back(made.times[i].ns());
    if (i > 0) continue;
    made.work *= effect->samples_factor;
    if (!effect->nothing.empty()) made.nothing.push_back(std::move(effect->nothing));
    for (std::string& one : effect->assumptions) made.assumptions.push_back(std::move(one));
  }
  if (!made.acts) return made;
  const int64_t bare = bare_step_ns_[static_cast<size_t>(made.recording)];
  const double share =
      static_cast<double>(StepNs(*job_, ReplayJob(*job_, edge_ns)).value_or(bare)) / static_cast<double>(bare);
  made.share = std::max(kMinShare, share / made.work);
  return made;
}

std::optional<double> Predictor::ExpectedOf(const Made& made, const WhatIfItem& item) const {
  const auto after = With(made, item);
  if (!after) return std::nullopt;
  return after->acts ? calibration_->SlopeOf(item.name) * std::log(after->share / made.share) : 0;
}

Result<std::vector<std::vector<int64_t>>> Predictor::Edges(const std::vector<WhatIfItem>& items) const {
  Made made = Nothing();
  for (const WhatIfItem& item : items) {
    auto next = With(made, item);
    if (!next) return Unexpected{next.error()};
    made = std::move(*next);
  }
  std::vector<std::vector<int64_t>> edge_ns;
  for (const EdgeTimes& times : made.times) edge_ns.push_back(times.ns());
  return edge_ns;
}

// The item brings little, or much, on top of what those before it are expected to bring; and recording took less of the
// host's time, or more, than is expected.
Result<Effect> Predictor::EffectOf(const Made& before, const Made& after, const WhatIfItem& item,
                                   Others& others) const {
  if (!after.acts) return Effect{};
  Effect effect{.expected = std::log(after.share / before.share)};
  for (const Case which : {Case::kLittle, Case::kMuch}) {
    const auto bound = With(before, item, which);
    if (!bound) return Unexpected{bound.error()};
    const double off = std::log(bound->share / after.share);
    effect.down = std::max(effect.down, -off), effect.up = std::max(effect.up, off);
  }
  for (Made& other : others) {
    auto with = With(other, item);
    if (!with) return Unexpected{with.error()};
    const double off = std::log(with->share / other.share) - effect.expected;
    (off < 0 ? effect.down : effect.up) = std::hypot(off < 0 ? effect.down : effect.up, off);
    other = std::move(*with);
  }
  return effect;
}

// One item after the other. How far off each may be has nothing to do with the others, so that the distances add up as
// those of independent errors do. The replay's own error comes on top, once.
Result<Prediction> Predictor::Predict(const std::vector<WhatIfItem>& items) const {
  Prediction prediction{.what = items};
  Effect model, tested;
  Made made = Nothing();
  Others others{Nothing(Case::kLittle), Nothing(Case::kMuch)};
  for (const WhatIfItem& item : items) {
    prediction.safety = std::max(prediction.safety, SafetyOf(item));
    auto after = With(made, item);
    if (!after && after.error().code != ErrorCode::kInput) return Unexpected{after.error()};
    if (!after) {
      prediction.refusal = after.error().message;
      return prediction;
    }
    const auto effect = EffectOf(made, *after, item, others);
    if (!effect) return Unexpected{effect.error()};
    prediction.effects.push_back(after->acts ? calibration_->Apply(item.name, *effect) : kNoEffect);
    model = model + *effect, tested = tested + prediction.effects.back();
    made = std::move(*after);
  }
  const double error = std::log1p(std::abs(check_.error));
  prediction.work = made.work, prediction.assumptions = std::move(made.assumptions);
  prediction.nothing = std::move(made.nothing);
  prediction.replay_error = {.down = error, .up = error};
  prediction.model = SharesOf(model + prediction.replay_error);
  prediction.share = SharesOf(tested + prediction.replay_error);
  const int64_t recording_ns = check_.replayed_step_ns - bare_step_ns();
  if (static_cast<double>(recording_ns) >= kMinRecordingCost * static_cast<double>(check_.replayed_step_ns))
    prediction.assumptions.push_back(StrCat("recording slowed the host down, by about ", FormatDuration(recording_ns),
                                            " a step, which is taken out of both steps"));
  return prediction;
}

Predictor::Removed Predictor::RemovedBy(const Made& before, const Made& after) const {
  const RankGraph& rank = main_rank();
  const Graph& graph = rank.graph;
  const Interval window = AnalysedWindow(*rank.of->trace).span;
  Removed removed;
  for (Instant to = 0; to < graph.size(); ++to) {
    if (graph.recorded_ns[to] <= window.start || graph.recorded_ns[to] > window.end) continue;
    for (uint32_t edge = graph.first_edge[to]; edge < graph.first_edge[to + 1]; ++edge) {
      const int64_t was = before.times[0].ns()[edge], is = after.times[0].ns()[edge];
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
