// SPDX-License-Identifier: Apache-2.0
// Applies what-ifs to the times of the job's graphs, replays them with three estimates, and calibrates the result.
#include "predict/predictor.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analyses/recording_overhead.h"
#include "base/strings.h"
#include "base/timings.h"
#include "predict/program.h"
#include "predict/rank_classes.h"
#include "predict/summary_steps.h"
#include "trace/summary.h"

namespace gapless::internal {
namespace {

constexpr double kMinRecordingCost = 0.02;  // share of a step below which the recording's cost is not mentioned
constexpr double kLeastEffect = 0.0049875;  // ln 1.005: speedups below it are shown as 1.00×
constexpr double kMinShare = 0.01;          // no prediction promises more than a factor of 100

constexpr Effect kNoEffect{.down = kMinWidth, .up = kMinWidth};

double RecordingTimes(Estimate estimate) { return ValueFor(estimate, kLittleOverhead, 1, kMuchOverhead); }

// Returns the primary traces to replay, most GPU operations first; if none has any, most operators first.
std::vector<const RunTrace*> Candidates(const Run& run) {
  std::vector<std::pair<size_t, const RunTrace*>> device, host;
  for (const RunTrace* of : run.primary())
    if (of->trace->gpu_ops.size() > 0) device.emplace_back(of->trace->gpu_ops.size(), of);
  for (const RunTrace* of : run.primary()) {
    if (!device.empty()) break;
    size_t operators = 0;
    for (uint32_t row = 0; row < of->trace->slices.size(); ++row) operators += IsOwnWork(*of->trace, row) ? 1 : 0;
    if (operators > 0) host.emplace_back(operators, of);
  }
  std::vector<std::pair<size_t, const RunTrace*>>& chosen = device.empty() ? host : device;
  std::stable_sort(chosen.begin(), chosen.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const RunTrace*> candidates;
  for (const auto& [size, of] : chosen) candidates.push_back(of);
  return candidates;
}

std::vector<std::span<const int64_t>> SpansOf(const std::vector<EdgeTimes>& times) {
  std::vector<std::span<const int64_t>> spans;
  for (const EdgeTimes& rank : times) spans.emplace_back(rank.ns());
  return spans;
}

// Returns a copy of `job` whose memory is that of the thread's last one.
Predictor::FixedJob& StartFrom(const Predictor::FixedJob& job) {
  thread_local Predictor::FixedJob copy;
  copy.times.resize(job.times.size());
  for (size_t rank = 0; rank < job.times.size(); ++rank) copy.times[rank].StartFrom(job.times[rank]);
  copy.share = job.share, copy.work = job.work, copy.acts = job.acts, copy.recording = job.recording;
  copy.assumptions.clear(), copy.no_effect.clear();
  return copy;
}

void Share(Predictor::FixedJob& job) {
  for (EdgeTimes& times : job.times) times.Share();
}

}  // namespace

std::string KindOf(const std::vector<WhatIfItem>& items) {
  std::set<std::string> names;
  for (const WhatIfItem& item : items) names.insert(item.name);
  return Join(std::vector<std::string>(names.begin(), names.end()), "+");
}

Predictor::Predictor(Job job, SelfCheck check, Tables& tables, std::shared_ptr<ThreadPool> pool,
                     std::span<const AdviceRow> ledger)
    : job_(std::make_shared<const Job>(std::move(job))),
      check_(std::move(check)),
      tables_(&tables),
      pool_(std::move(pool)),
      calibration_(std::make_shared<const Calibration>(ledger, machine())) {
  bare_step_ns_.fill(check_.replayed_step_ns);
  if (!check_.accepted()) return;
  pool_->ParallelFor(unfixed_.size(), [&](size_t i) {
    FixedJob& job = unfixed_[i];
    job.recording = static_cast<Estimate>(i);
    for (const RankGraph& rank : job_->ranks)
      job.times.emplace_back(rank.graph, WithoutRecording(rank.edge_ns, rank.recorded, RecordingTimes(job.recording)));
    bare_step_ns_[i] = ReplayedStepNs(*job_, SpansOf(job.times)).value_or(check_.replayed_step_ns);
  });
}

// Absent: there are no typical steps, or nobody can say whether they or the recording are at fault.
std::optional<Predictor> Predictor::ForTypicalSteps(Tables& tables, std::span<const RunTrace* const> candidates,
                                                    const std::shared_ptr<ThreadPool>& pool,
                                                    std::span<const AdviceRow> ledger) {
  auto predictor = ForStepsInARow(TakeTypicalSteps(tables, candidates), candidates, pool, ledger);
  if (!predictor || predictor->check_.accepted()) return predictor;
  const TypicalSteps& first = *predictor->typical_;
  const auto second = ForStepsInARow(TakeTypicalSteps(tables, candidates, first.row), candidates, pool, ledger);
  if (!second || second->check_.accepted()) return std::nullopt;
  predictor->check_.refusal +=
      StrCat(" (replayed at two places: ", first.Extent(), " and ", second->typical_->Extent(), ")");
  return predictor;
}

// Absent: there is no row, or its ranks do not meet.
std::optional<Predictor> Predictor::ForStepsInARow(std::optional<TypicalSteps> typical,
                                                   std::span<const RunTrace* const> candidates,
                                                   const std::shared_ptr<ThreadPool>& pool,
                                                   std::span<const AdviceRow> ledger) {
  if (!typical) return std::nullopt;
  std::vector<const RunTrace*> stretches;
  for (const RunTrace* of : candidates) stretches.push_back(&typical->run->traces()[static_cast<size_t>(of->index)]);
  Job job = BuildJob(stretches, {}, pool.get());
  // Ranks that do not meet in the stretches may meet in the whole; without collectives they do nowhere.
  if (job.ranks.size() < stretches.size() && candidates[0]->trace->collectives.size() > 0) return std::nullopt;
  SelfCheck check = CheckJob(job, pool.get());
  Predictor predictor(std::move(job), std::move(check), *typical->tables, pool, ledger);
  predictor.typical_ = std::move(typical);
  return predictor;
}

std::optional<Predictor> Predictor::ForRun(Tables& tables, std::span<const AdviceRow> ledger, bool all_steps) {
  const std::vector<const RunTrace*> all = Candidates(tables.run());
  if (all.empty()) return std::nullopt;
  const std::vector<const RunTrace*> candidates = all_steps ? all : RepresentativesOf(tables, all);
  auto pool = std::make_shared<ThreadPool>(tables.threads());
  std::optional<Predictor> predictor;
  if (tables.of_summaries()) return ForSummaries(tables, all, pool, ledger);
  if (!all_steps && candidates.size() == all.size()) predictor = ForTypicalSteps(tables, candidates, pool, ledger);
  if (!predictor) predictor = ForAllSteps(tables, candidates, pool, ledger);
  predictor->all_ranks_ = all.size();  // the others' times are those of a rank that works alike
  return predictor;
}

// Absent: no summary holds events, or they hold those of different steps.
std::optional<Predictor> Predictor::ForSummaries(Tables& tables, std::span<const RunTrace* const> all,
                                                 const std::shared_ptr<ThreadPool>& pool,
                                                 std::span<const AdviceRow> ledger) {
  std::vector<const RunTrace*> candidates = RepresentativesOf(tables, all);
  auto taken = TakeSummarySteps(tables, candidates);
  if (!taken) {  // some may have been opened for their events
    candidates.assign(all.begin(), all.end());
    std::erase_if(candidates, [](const RunTrace* of) { return of->trace->summary->events.empty(); });
    if (!candidates.empty()) taken = TakeSummarySteps(tables, candidates);
  }
  if (!taken) return std::nullopt;
  std::vector<const RunTrace*> stretches;
  for (const RunTrace* of : candidates) stretches.push_back(&taken->run->traces()[static_cast<size_t>(of->index)]);
  Predictor predictor = ForAllSteps(*taken->tables, stretches, pool, ledger);
  predictor.all_ranks_ = all.size();
  predictor.summary_tables_ = taken->tables, predictor.summary_run_ = taken->run;
  if (taken->row.count < taken->all_steps) predictor.typical_ = std::move(taken);
  return predictor;
}

// Without a job of all ranks that passes its check, the first one is replayed alone.
Predictor Predictor::ForAllSteps(Tables& tables, std::span<const RunTrace* const> candidates,
                                 const std::shared_ptr<ThreadPool>& pool, std::span<const AdviceRow> ledger) {
  Job job = BuildJob(candidates, {}, pool.get());
  SelfCheck check = CheckJob(job, pool.get());
  if (job.ranks.size() == 1 || check.accepted())
    return Predictor(std::move(job), std::move(check), tables, pool, ledger);
  Job alone = BuildJob(candidates.first(1));
  SelfCheck its_check = CheckJob(alone, pool.get());
  Predictor predictor(std::move(alone), std::move(its_check), tables, pool, ledger);
  predictor.why_not_together_ = std::move(check.refusal);
  return predictor;
}

int64_t Predictor::step_ns() const { return ScaledToMeanStep(check_.recorded_step_ns); }

// The ranks' steps are in the ratio of those that were chosen in the first one. Without steps there is one rank, and
// its step is the stretch as the replay has it.
int64_t Predictor::ScaledToMeanStep(int64_t ns) const {
  if (!typical_) return ns;
  const double chosen = static_cast<double>(typical_->all_steps > 0 ? typical_->replayed_ns : check_.recorded_step_ns) /
                        static_cast<double>(typical_->all_steps > 0 ? typical_->row.count : 1);
  return std::llround(static_cast<double>(ns) * static_cast<double>(typical_->mean_step_ns) / std::max(1.0, chosen));
}

Machine Predictor::machine() const {
  return job_->ranks[0].of->trace->gpu_ops.size() > 0 ? Machine::kGpu : Machine::kHost;
}

// Compares both as replays: the prediction misses the same part of the time as the replay of the recording.
double Predictor::ShareOf(const FixedJob& job) const {
  const int64_t bare = bare_step_ns_[static_cast<size_t>(job.recording)];
  const double share =
      static_cast<double>(ReplayedStepNs(*job_, SpansOf(job.times)).value_or(bare)) / static_cast<double>(bare);
  return std::max(kMinShare, share / job.work);
}

Result<void> Predictor::Apply(const WhatIfItem& item, Estimate estimate, FixedJob& job) const {
  const TimedPart timed("what-if", item.name);
  job.acts = false;
  for (size_t i = 0; i < job_->ranks.size(); ++i) {
    GAPLESS_ASSIGN(auto effect,
                   FindFix(item.name)->model.apply({*job_->ranks[i].of, *tables_}, item, estimate, job.times[i]));
    if (!effect.refusal.empty()) return Fail(ErrorCode::kInput, std::move(effect.refusal));
    job.acts = job.acts || effect.no_effect.empty();
    if (i > 0) continue;
    job.work *= effect.samples_factor;
    if (!effect.no_effect.empty()) job.no_effect.push_back(std::move(effect.no_effect));
    for (std::string& assumption : effect.assumptions) job.assumptions.push_back(std::move(assumption));
  }
  return {};
}

Result<void> Predictor::ApplyAndReplay(const WhatIfItem& item, Estimate estimate, FixedJob& job) const {
  GAPLESS_TRY(Apply(item, estimate, job));
  if (job.acts) job.share = ShareOf(job);
  return {};
}

std::optional<double> Predictor::ExpectedOf(const FixedJob& job, const WhatIfItem& item) const {
  FixedJob& after = StartFrom(job);
  if (!ApplyAndReplay(item, Estimate::kExpected, after)) return std::nullopt;
  return after.acts ? calibration_->SlopeOf(item.name) * std::log(after.share / job.share) : 0;
}

Result<std::vector<std::vector<int64_t>>> Predictor::Edges(const std::vector<WhatIfItem>& items) const {
  FixedJob job = Unfixed();
  for (const WhatIfItem& item : items) GAPLESS_TRY(Apply(item, Estimate::kExpected, job));
  std::vector<std::vector<int64_t>> edge_ns;
  for (const EdgeTimes& times : job.times) edge_ns.push_back(times.ns());
  return edge_ns;
}

// The item brings little, or much, on top of what those before it are expected to bring; and recording took less of the
// host's time, or more, than is expected.
Result<Effect> Predictor::EffectOf(const FixedJob& before, const FixedJob& after, const WhatIfItem& item,
                                   std::array<FixedJob, 2>& others) const {
  if (!after.acts) return Effect{};
  constexpr std::array kBounds = {Estimate::kPessimistic, Estimate::kOptimistic};
  std::array<double, kBounds.size()> bounds{}, shares{};
  std::array<Result<void>, 2 * kBounds.size()> answers;
  for (size_t i = 0; i < others.size(); ++i) shares[i] = others[i].share;
  pool_->ParallelFor(answers.size(), [&](size_t i) {
    if (i < kBounds.size()) {
      FixedJob& bound = StartFrom(before);
      answers[i] = ApplyAndReplay(item, kBounds[i], bound);
      bounds[i] = bound.share;
    } else {
      FixedJob& other = others[i - kBounds.size()];
      answers[i] = ApplyAndReplay(item, Estimate::kExpected, other);
      Share(other);
    }
  });
  for (const Result<void>& answer : answers) GAPLESS_TRY(answer);
  Effect effect{.expected = std::log(after.share / before.share)};
  for (const double bound : bounds) {
    const double off = std::log(bound / after.share);
    effect.down = std::max(effect.down, -off), effect.up = std::max(effect.up, off);
  }
  for (size_t i = 0; i < others.size(); ++i) {
    const double off = std::log(others[i].share / shares[i]) - effect.expected;
    (off < 0 ? effect.down : effect.up) = std::hypot(off < 0 ? effect.down : effect.up, off);
  }
  return effect;
}

Effect Predictor::Bounded(const FixedJob& before, const FixedJob& after, const WhatIfItem& item, const Effect& model,
                          double uncertain) const {
  Effect tested = calibration_->Apply(item.name, model);
  if (SafetyOf(item) == Safety::kHardware || after.work != before.work) return tested;
  FixedJob& gone = StartFrom(after);
  for (size_t rank = 0; rank < gone.times.size(); ++rank) gone.times[rank].RemoveWhatShrank(before.times[rank]);
  const double noise = calibration_->WidthOf(item.name, 0);
  const double least = std::min(std::log(ShareOf(gone) / before.share), model.expected);
  tested.expected = std::max(tested.expected, least);
  tested.down = std::min(tested.down, tested.expected - least - uncertain + noise);
  const double most = std::max({0.0, model.expected + model.up, tested.expected});
  tested.up = std::min(tested.up, most - tested.expected + noise);
  return tested;
}

std::string Predictor::WhyHidden(const FixedJob& before, const FixedJob& after, const WhatIfItem& item) const {
  const Removed removed = RemovedBy(before, after);
  std::vector<std::string> parts;
  if (removed.host_ns > 0) parts.push_back(StrCat(FormatDuration(removed.host_ns), " of the host's work"));
  if (removed.device_ns > 0) parts.push_back(StrCat(FormatDuration(removed.device_ns), " of work on the device"));
  if (parts.empty()) return StrCat("what ", item.ToString(), " changes is nothing that a step waits for");
  return StrCat(item.ToString(), " takes ", Join(parts, " and "),
                " out of a step, which waits for other work meanwhile");
}

Predictor::Progress Predictor::Start() const {
  return {.expected = Unfixed(), .others = {Unfixed(Estimate::kPessimistic), Unfixed(Estimate::kOptimistic)}};
}

// The distance by which each item may be off has nothing to do with the others, so that the distances add up as those
// of independent errors do. The replay's own error comes on top, once.
Result<void> Predictor::Add(const WhatIfItem& item, Progress& progress) const {
  Prediction& prediction = progress.prediction;
  prediction.what.push_back(item);
  prediction.safety = std::max(prediction.safety, SafetyOf(item));
  FixedJob after = progress.expected;
  const Result<void> applied = ApplyAndReplay(item, Estimate::kExpected, after);
  if (!applied && applied.error().code != ErrorCode::kInput) return Unexpected{applied.error()};
  if (!applied) {
    prediction.refusal = applied.error().message;
    return {};
  }
  Share(after);
  const std::array<double, 2> shares = {progress.others[0].share, progress.others[1].share};
  GAPLESS_ASSIGN(const auto effect, EffectOf(progress.expected, after, item, progress.others));
  double uncertain = 0;
  for (size_t i = 0; i < shares.size(); ++i)
    uncertain = std::min(uncertain, std::log(progress.others[i].share / shares[i]) - effect.expected);
  prediction.effects.push_back(after.acts ? Bounded(progress.expected, after, item, effect, uncertain) : kNoEffect);
  if (Effect& last = prediction.effects.back(); after.acts && std::abs(last.expected) < kLeastEffect) {
    last.expected = 0;
    after.no_effect.push_back(WhyHidden(progress.expected, after, item));
  }
  progress.model = progress.model + effect, progress.tested = progress.tested + prediction.effects.back();
  progress.expected = std::move(after);
  return {};
}

Prediction Predictor::Conclude(const Progress& progress) const {
  Prediction prediction = progress.prediction;
  // Were the mean of the typical steps off by e, and what a fix saves of a step the same, then the share that is left,
  // 1 − s, would be off by e s ÷ (1 − s).
  const double saved = std::abs(std::expm1(-progress.tested.expected));
  const double error = std::hypot(std::log1p(std::abs(check_.error)), typical_ ? typical_->error * saved : 0);
  prediction.work = progress.expected.work, prediction.assumptions = progress.expected.assumptions;
  prediction.no_effect = progress.expected.no_effect;
  prediction.replay_error = {.down = error, .up = error};
  prediction.model = SharesOf(progress.model + prediction.replay_error);
  prediction.share = SharesOf(progress.tested + prediction.replay_error);
  const int64_t recording_ns = check_.replayed_step_ns - bare_step_ns();
  if (static_cast<double>(recording_ns) >= kMinRecordingCost * static_cast<double>(check_.replayed_step_ns))
    prediction.assumptions.push_back(StrCat("recording slowed the host down, by about ",
                                            FormatDuration(ScaledToMeanStep(recording_ns)),
                                            " a step, which is taken out of both steps"));
  return prediction;
}

Result<Prediction> Predictor::Predict(const std::vector<WhatIfItem>& items) const {
  Progress progress = Start();
  for (const WhatIfItem& item : items) {
    GAPLESS_TRY(Add(item, progress));
    if (!progress.prediction.refusal.empty()) {
      progress.prediction.what = items;
      return std::move(progress.prediction);
    }
  }
  return Conclude(progress);
}

Predictor::Removed Predictor::RemovedBy(const FixedJob& before, const FixedJob& after) const {
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
  return {.host_ns = ScaledToMeanStep(removed.host_ns / steps),
          .device_ns = ScaledToMeanStep(removed.device_ns / steps)};
}

}  // namespace gapless::internal
