// SPDX-License-Identifier: Apache-2.0
// Computes the diagnosis, the plan and the pictures on demand, and replaces the rules' estimates by replays.
#include "predict/advice.h"

#include <cmath>

#include "base/strings.h"
#include "base/thread_pool.h"
#include "predict/unasked_fixes.h"

namespace gapless::internal {
namespace {

// The calibration of the ledger moves what a replay says; the picture is as long as the number beside it.
void StretchPicture(double factor, StepPicture& picture) {
  const auto scaled = [&](int64_t ns) { return std::llround(static_cast<double>(ns) * factor); };
  picture.dur_ns = scaled(picture.dur_ns);
  for (PictureLane& lane : picture.lanes)
    for (PictureSpan& span : lane.spans) {
      const int64_t end = scaled(span.start_ns + span.dur_ns);
      span.start_ns = scaled(span.start_ns), span.dur_ns = end - span.start_ns;
    }
}

}  // namespace

Advice::Advice(Tables& tables, std::span<const AdviceRow> ledger, bool all_steps) : tables_(tables) {
  std::optional<ThreadPool> beside;
  const auto predict = [&] { predictor_ = Predictor::ForRun(tables, ledger, all_steps); };
  if (tables.threads() > 1)
    beside.emplace(1).Submit(predict);
  else
    predict();
  found_ = Diagnose(tables);
  if (beside) beside->Wait();
  if (!Replays()) return;
  if (auto unasked = UnaskedFixes(tables.run(), *predictor_, found_.bottlenecks))
    found_.bottlenecks.push_back(std::move(*unasked));
}

const Diagnosis& Advice::diagnosis() const {
  if (diagnosis_) return *diagnosis_;
  diagnosis_ = found_;
  MakePlan(Replays() ? &*predictor_ : nullptr, ReadLedger(tables_), diagnosis_->bottlenecks);
  return *diagnosis_;
}

Findings Advice::Conclude(const AnalyzeOptions& options) const {
  Diagnosis chosen = Choose(found_, options);
  FixPlan plan = MakePlan(Replays() ? &*predictor_ : nullptr, ReadLedger(tables_), chosen.bottlenecks);
  Findings findings = internal::Conclude(tables_, std::move(chosen), options);
  RunSummary& summary = findings.summary;
  summary.plan = std::move(plan.steps), summary.together = std::move(plan.together);
  if (summary.together) summary.estimated_speedup = summary.together->gain;
  return findings;
}

std::vector<SweptPart> Advice::SweepKernels() const {
  constexpr size_t kDrawn = 6;
  if (!Replays()) return {};
  return Sweep(*predictor_, SweepBy::kKernel, kDrawn);
}

std::optional<DividedPath> Advice::Path() const {
  if (!Replays()) return std::nullopt;
  return DivideRecordedPath(predictor_->main_rank());
}

std::optional<StepPictures> Advice::Draw(const Combination& together) const {
  const auto items = ParseItems(Join(together.fixes, ","));
  if (together.fixes.empty() || !together.replayed || !items || !Replays()) return std::nullopt;
  const auto edge_ns = predictor_->Edges(*items);
  if (!edge_ns) return std::nullopt;
  const std::vector<std::vector<int64_t>> times = ReplayJob(predictor_->job(), *edge_ns);
  if (times.empty()) return std::nullopt;
  const RankGraph& rank = predictor_->main_rank();
  StepPictures pictures{.before = DrawStep(rank, rank.graph.recorded_ns), .after = DrawStep(rank, times[0])};
  if (pictures.before.lanes.empty() || pictures.after.dur_ns <= 0) return std::nullopt;
  const double wanted = static_cast<double>(pictures.before.dur_ns) / together.replayed->expected;
  StretchPicture(wanted / static_cast<double>(pictures.after.dur_ns), pictures.after);
  return pictures;
}

}  // namespace gapless::internal
