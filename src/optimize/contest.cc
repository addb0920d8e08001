// SPDX-License-Identifier: Apache-2.0
// Runs a paired comparison, ends it when it is decided or hopeless, and classifies runs that fail.
//
// Pairs are added until the anytime-valid interval excludes 1 or shows equivalence (validate/pair_sequence.h), the
// planned pairs are used up, or the deadline is near. From four pairs on the comparison is also given up when B
// was slower in all pairs, or when its saving is so small that even all planned pairs would not show it. Giving up
// early can only miss a gain, never claim one.
#include "optimize/contest.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "optimize/decision.h"
#include "optimize/time_budget.h"
#include "proof/comparison.h"
#include "proof/measure.h"
#include "proof/metrics.h"
#include "proof/pair_loop.h"
#include "validate/rank_tests.h"

namespace gapless::internal {
namespace {

// Pairs before a comparison may be given up: these, or a share of those planned. The noise of fewer is not known.
constexpr size_t kMinPairsToStop = 4, kMinShareToStop = 6;
// A comparison is given up when its saving is below both: a share of what all planned pairs could detect, and 10 %.
constexpr double kMinDetectableFraction = 0.5, kMinPromisingSaving = 0.1;
constexpr int kKilled = 137;  // exit status after SIGKILL, which the kernel sends when memory runs out
constexpr size_t kMaxFault = 300;

// Returns true if the texts of a failed run have the words of PyTorch, Python or C++ for exhausted memory.
bool IsOutOfMemory(const RunSample& sample) {
  for (const std::string* text : {&sample.failure, &sample.output_tail})
    if (ContainsIgnoreCase(*text, "out of memory") || text->find("MemoryError") != text->npos ||
        text->find("OutOfMemoryError") != text->npos || text->find("std::bad_alloc") != text->npos)
      return true;
  return false;
}

// Does the line begin with the name of an exception, as the last part of a traceback does?
bool NamesAnException(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(':'));
  const bool is_name = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
  return is_name && (name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Interrupt"));
}

}  // namespace

std::string LastWordsOf(std::string_view text) {
  std::string last, exception;
  for (const std::string_view line : Split(text, '\n')) {
    if (!line.empty()) last = line;
    if (NamesAnException(line)) exception = line;
  }
  return Ellipsize(Printable(exception.empty() ? last : exception), kMaxFault);
}

std::string LastWordsOf(const RunSample& sample) {
  return LastWordsOf(sample.failure.empty() ? sample.output_tail : sample.failure);
}

// Returns the fault of a run, the gravest first. Exit status 137 without a timeout counts as out of memory, since
// the run's own time limit is a hang.
Fault FaultOf(const RunSample& sample) {
  if (sample.timed_out) return Fault::kHang;
  if (!Succeeded(sample))
    return sample.out_of_memory || IsOutOfMemory(sample) || sample.exit_status == kKilled ? Fault::kOutOfMemory
                                                                                          : Fault::kCrash;
  return MeanStepMs(sample) > 0 ? Fault::kNone : Fault::kNothingMeasured;
}

std::string DescribeFault(const RunSample& sample) {
  const std::string words = LastWordsOf(sample);
  switch (FaultOf(sample)) {
    case Fault::kHang: return StrCat("it hung: not done after ", FormatDuration(sample.wall_ns), ", and was ended");
    case Fault::kOutOfMemory: return StrCat("it ran out of memory", words.empty() ? "" : ": ", words);
    case Fault::kCrash:
      return StrCat("it crashed with exit status ", sample.exit_status, words.empty() ? "" : ": ", words);
    case Fault::kNothingMeasured: return StrCat("it took no step after warm-up", AgentWords(sample));
    case Fault::kNone: break;
  }
  return "";
}

// Pairs run from A to B, speedups the other way round, so the interval is inverted.
RatioInterval Contest::Speedup() const {
  if (!at_once) return SpeedupOf(sequence.Interval());
  const auto pairs = sequence.log_ratios();
  const bool are_few = pairs.size() >= kFewestPairs && pairs.size() < kMinPairsToProve;
  const auto shift = are_few ? StudentShift(pairs, level) : HodgesLehmann(pairs, level);
  if (!shift) return {};
  RatioInterval ratio{.low = std::nullopt, .high = std::nullopt, .expected = std::exp(shift->estimate)};
  if (shift->low) ratio.low = std::exp(*shift->low);
  if (shift->high) ratio.high = std::exp(*shift->high);
  return SpeedupOf(ratio);
}

std::optional<Ending> EndingOf(const PairSequence& sequence, size_t most_pairs) {
  const RatioInterval ratio = sequence.Interval();
  if (sequence.Verdict() != SpeedVerdict::kCannotTell && ratio.low && ratio.high) return Ending::kDecided;
  if (sequence.size() < kMinPairsToStop) return std::nullopt;
  const auto pairs = sequence.log_ratios();
  // B was never faster.
  if (std::ranges::all_of(pairs, [](double log_ratio) { return log_ratio >= 0; })) return Ending::kTooSmall;
  if (sequence.size() < most_pairs / kMinShareToStop) return std::nullopt;
  const auto detectable = sequence.DetectableShare(std::max(most_pairs, sequence.size()));
  if (detectable && 1 - ratio.expected < std::min(kMinDetectableFraction * *detectable, kMinPromisingSaving))
    return Ending::kTooSmall;
  return std::nullopt;
}

namespace {

// Takes a run that went wrong, or is not of use, into the contest, which it ends. An error: A itself is at fault.
Result<void> TakeFault(RunSample sample, bool is_b, bool is_late, Contest& contest) {
  const Fault fault = FaultOf(sample);
  if (fault == Fault::kNothingMeasured && !is_b)
    return Fail(ErrorCode::kCommand, "there is nothing to measure in this run", "", DescribeFault(sample));
  if (fault == Fault::kHang && (!is_b || is_late)) {
    contest.busy = !is_late;
    return {};
  }
  if (!is_b) return FailureOf(sample, RunRequest{});
  contest.ending = Ending::kFault;
  contest.fault = DescribeFault(sample);
  if (fault == Fault::kHang) contest.hung_s = static_cast<double>(sample.wall_ns) / 1e9;
  contest.b.push_back(std::move(sample));
  return {};
}

}  // namespace

Result<Contest> RunContest(const ContestPlan& plan, Runner& runner,
                           const std::function<void(const Contest&)>& on_pair) {
  Contest contest = plan.earlier != nullptr ? *plan.earlier : Contest(plan.options, plan.at_once);
  contest.ending = Ending::kNoTime;
  PairLoop loop{.done = contest.a.size(),
                .max_pairs = plan.most_pairs,
                .seed = plan.seed,
                .deadline = plan.deadline,
                .pair_takes = plan.pair_takes,
                .now = [&] { return runner.Now(); }};
  loop.run = [&](bool is_b) -> Result<std::optional<RunSample>> {
    GAPLESS_ASSIGN(auto sample, runner.Run(is_b ? plan.b : plan.a));
    if (FaultOf(sample) == Fault::kNone) return std::optional(std::move(sample));
    GAPLESS_TRY(TakeFault(std::move(sample), is_b, runner.Now() >= plan.deadline, contest));
    return std::optional<RunSample>();
  };
  loop.is_disturbed = IsDisturbed;
  loop.min_pairs = plan.at_once ? std::min<size_t>(kMinPairsToProve, plan.most_pairs) : 0;
  // A pair counts only when both runs went well; a comparison that is looked at once is not ended by what it
  // shows.
  loop.add = [&](RunSample a, RunSample b) -> Result<bool> {
    contest.sequence.Add(std::log(RatioOfTimes(a, b)));
    contest.a.push_back(std::move(a));
    contest.b.push_back(std::move(b));
    on_pair(contest);
    const auto ending = plan.at_once ? std::nullopt : EndingOf(contest.sequence, plan.most_pairs);
    if (ending) contest.ending = *ending;
    return !ending;
  };
  GAPLESS_ASSIGN(const auto end, RunPairLoop(loop));
  if (end == PairLoopEnd::kMaxPairs) contest.ending = Ending::kTooSmall;
  return contest;
}

}  // namespace gapless::internal
