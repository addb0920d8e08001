// SPDX-License-Identifier: Apache-2.0
// Implements `validate`: pairs, training check and history, with one sentence for each reason against.
//
// All three questions are asked even if the first one fails, so that the user sees every reason at once. B is
// recorded only if nothing is against it, because the history's level must not learn from a refused change.
#include "proof/validation.h"

#include <utility>

#include "base/strings.h"
#include "proof/result_json.h"
#include "proof/same_training.h"

namespace gapless::internal {
namespace {

// Returns the record of B. Git's branch and state belong to its commit: they are left out when the commit is
// another one.
Result<BenchmarkRecord> RecordOfB(const ValidationQuestion& question, const Comparison& comparison) {
  auto record = RecordOf(comparison.b(), question.pairs.b.command);
  if (!record) return record;
  if (!question.commit_sha.empty() && question.commit_sha != record->commit_sha) {
    record->commit_sha = question.commit_sha;
    record->branch.clear();
    record->dirty.reset();
    record->author_unix_ns.reset();
  }
  if (!question.branch.empty()) record->branch = question.branch;
  if (!question.label.empty()) record->benchmark = question.label;
  return record;
}

// Returns records of the processes of B after the first: runs that may settle what the history makes of B.
Result<std::vector<BenchmarkRecord>> ProcessesOfB(const ValidationQuestion& question, const Comparison& comparison) {
  constexpr size_t kMost = 6;
  std::vector<BenchmarkRecord> records;
  for (size_t i = 1; i < comparison.b().size() && records.size() < kMost; ++i) {
    GAPLESS_ASSIGN(auto record, RecordOf({comparison.b()[i]}, question.pairs.b.command));
    records.push_back(std::move(record));
  }
  return records;
}

std::string_view NotFaster(SpeedVerdict verdict) {
  switch (verdict) {
    case SpeedVerdict::kSlower: return "it is slower";
    case SpeedVerdict::kEquivalent: return "it makes no difference";
    case SpeedVerdict::kCannotTell: return "it is not known to be faster";
    case SpeedVerdict::kFaster: break;
  }
  return "";
}

std::vector<std::string> ReasonsAgainst(const Comparison& comparison, const Judgement& judgement, Safety allow) {
  std::vector<std::string> against;
  if (const std::string_view why = NotFaster(comparison.Verdict()); !why.empty()) against.emplace_back(why);
  if (const auto& training = comparison.training(); training && !IsAllowed(*training, allow))
    against.push_back(training->reason);
  if (judgement.IsRegression()) against.emplace_back("it is a regression against the history");
  if (judgement.IsPending())
    against.emplace_back("it looks like a regression against the history, and too few runs agree yet to tell");
  return against;
}

}  // namespace

Validation NothingDiffers(const ValidationQuestion& question, std::string why) {
  Validation found{.comparison = Comparison(question.options, question.higher_is_better)};
  found.against = {StrCat("nothing differs: ", why)};
  found.nothing_differs = std::move(why);
  found.judgement.threshold = question.history.effect;
  return found;
}

Result<Validation> ValidateOptimization(const ValidationQuestion& question, History& history) {
  Validation found{.comparison = Comparison(question.options, question.higher_is_better)};
  PairPlan pairs = question.pairs;
  if (question.on_begin) question.on_begin(pairs, found.comparison);
  GAPLESS_TRY(RunPairs(pairs, found.comparison, [&] { return !found.comparison.IsDecided(); }));
  if (found.comparison.pairs() == 0) return Fail(ErrorCode::kUsage, "there was no time for a single pair");
  GAPLESS_TRY(AskWhetherSame(pairs, found.comparison));
  GAPLESS_ASSIGN(auto record, RecordOfB(question, found.comparison));
  HistoryQuestion asked = question.history;
  GAPLESS_ASSIGN(asked.fresh, ProcessesOfB(question, found.comparison));
  GAPLESS_ASSIGN(found.judgement, JudgeRecord(record, history, asked));
  found.against = ReasonsAgainst(found.comparison, found.judgement, question.allow);
  if (std::string why = found.comparison.MetricObjection(); !why.empty() && !question.pairs.metric_name.empty())
    found.against.push_back(StrCat(question.pairs.metric_name, ": ", why));
  if (!question.record || !found.IsAccepted()) return found;  // what is refused is no level for others to be held to
  record.uid = NewUid();
  record.verdicts = found.judgement.verdicts;
  GAPLESS_ASSIGN(const auto recorded, history.Record(record));
  found.recorded = recorded.id;
  return found;
}

}  // namespace gapless::internal
