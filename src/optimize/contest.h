// SPDX-License-Identifier: Apache-2.0
// A paired comparison of two sets of fixes: fresh processes in pairs, in random order, until the verdict is
// significant (validate/pair_sequence.h) or the gain is too small to be worth more of the user's time.
//
// A is the set of fixes that is on already, B the same with one more. RatioOfTimes() summarises a process.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimize/fix_set.h"
#include "trial/run_sample.h"
#include "validate/pair_sequence.h"

namespace gapless::internal {

using Clock = std::chrono::steady_clock;

// A Runner runs the user's command with a set of fixes. It returns an error if the command could not be run at
// all, or if the user wants to end; a run that fails is a sample.
class Runner {
 public:
  virtual ~Runner() = default;
  // The clock that runs take time of; a simulation has its own.
  virtual Clock::time_point Now() const { return Clock::now(); }
  virtual Result<RunSample> Run(const FixSet& set) = 0;
};

enum class Fault : uint8_t { kNone, kCrash, kHang, kOutOfMemory, kNothingMeasured };
// Returns the fault of a run, and a sentence for it: "it crashed with exit status 1: ValueError: …"; "" without a
// fault.
Fault FaultOf(const RunSample& sample);
std::string DescribeFault(const RunSample& sample);
// Returns what a program that failed said of it, shortened: the last line that names an exception, else the last line.
std::string LastWordsOf(std::string_view text);
std::string LastWordsOf(const RunSample& sample);

struct Contest;

// A ContestPlan says what is compared, how precisely, and until when.
struct ContestPlan {
  FixSet a{}, b{};
  PairOptions options{};
  size_t most_pairs = 12;
  Clock::time_point deadline = Clock::time_point::max();  // no pair begins that would not be done by then
  Clock::duration pair_takes{};                           // about; the longest of the contest counts from then on
  uint64_t seed = 0;
  bool at_once = false;              // all pairs are held, and what they say is looked at once
  const Contest* earlier = nullptr;  // undecided comparison of the same two sets, whose pairs count
};

enum class Ending : uint8_t {
  kDecided,   // see sequence.Verdict()
  kTooSmall,  // the saving is smaller than what these pairs can detect
  kNoTime,    // the deadline came first
  kFault,     // B went wrong, see `fault`
};

// A Contest holds the pairs of a comparison and how it ended. A run without its partner is in neither list, but
// for a run of B that went wrong.
struct Contest {
  explicit Contest(const PairOptions& options, bool looked_at_once = false)
      : sequence(options), level(1 - options.alpha), at_once(looked_at_once) {}
  PairSequence sequence;  // ln RatioOfTimes(A, B)
  Ending ending = Ending::kNoTime;
  std::vector<RunSample> a{}, b{};
  std::string fault{};
  double hung_s = 0;  // after which B was ended, when that was the fault
  bool busy = false;  // A itself was not done in its time: the machine is busy
  double level;
  bool at_once;
  // With the interval that may be looked at after every pair, or, at once, the narrower one of the signed ranks
  // (rank_tests.h). That has bounds from six pairs on; for three to five it is Student's, of the logarithms. When to
  // stop may depend on the time that pairs take, which is the same whichever of the two is the faster.
  RatioInterval Speedup() const;
};

// Runs the comparison and calls `on_pair` after each pair. Returns an error if the user wants to end, or if A itself
// fails. A run that was ended after the deadline does not count.
Result<Contest> RunContest(const ContestPlan& plan, Runner& runner, const std::function<void(const Contest&)>& on_pair);

// Returns how the comparison ends after these pairs, or nullopt if it is worth going on, to at most `most_pairs`.
// kDecided may also mean slower or equivalent. Never says that B is faster: only a verdict does.
std::optional<Ending> EndingOf(const PairSequence& sequence, size_t most_pairs);

}  // namespace gapless::internal
