// SPDX-License-Identifier: Apache-2.0
// Asks whether a change leaves a training the same (docs/parity.md): keeps the recordings of command A, has those made
// that a decision still needs, and lets validate/parity.h decide.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "collect/agent_options.h"
#include "collect/files.h"
#include "proof/comparison.h"
#include "trial/run_once.h"
#include "validate/parity.h"

namespace gapless::internal {

// A ParityPlan limits what is recorded; whichever limit comes first ends a recording.
struct ParityPlan {
  int steps = 20;       // optimiser steps to record
  double seconds = 60;  // after which A records no more, were there less
};

// Recordings of one command A, by rank. They lie in a temporary folder, which goes with this.
class TrainingParity {
 public:
  // Runs A unchanged, recording as asked, and stops it when that is complete. An error: it cannot be run at all.
  using RunA = std::function<Result<RunSample>(const ParityOptions& options)>;

  static Result<TrainingParity> Make(const ParityPlan& plan, RunA run_a);
  // Recordings that lie in a folder, each in one of the name that the options of its run have. An error: no baseline.
  static Result<TrainingParity> Open(const std::string& folder);

  // Returns the options of a run of A that is made anyway. The baseline is recorded first.
  ParityOptions BaselineOptions() const;
  ParityOptions ProbeOptions(Precision precision) const;
  // Returns the options of a run of the changed command, and removes the candidate before.
  ParityOptions CandidateOptions();

  // Decides on the candidate that was recorded last. Without a `claim` the finest precision is found under which it is
  // the same; `exact`: the caller needs to know whether A repeats itself where the candidate is not exact.
  Result<ParityReport> Judge(std::optional<Precision> claim, bool exact = false);

  // The same without another run: what is missing says Needed(), empty when nothing is.
  Result<ParityReport> Look(std::optional<Precision> claim, bool exact = false);
  std::vector<ParityOptions> Needed(const ParityReport& report) const;

  // Returns the reason why A has no recording; empty if it has one.
  std::string WhyNoBaseline() const;

 private:
  TrainingParity(const ParityPlan& plan, RunA run_a, std::string folder)
      : plan_(plan), run_a_(std::move(run_a)), path_(std::move(folder)) {}

  ParityOptions OptionsFor(std::string_view role, std::string_view name) const;
  Result<void> Load();
  Result<void> Record(const ParityReport& report);
  Result<ParityReport> JudgeRanks(std::optional<Precision> claim, bool exact);

  ParityPlan plan_;
  RunA run_a_;
  std::string path_;                                            // folder of the recordings
  std::optional<TemporaryFolder> temporary_{};                  // keeps `path_`, unless that is the user's
  std::map<std::string, ParityBaseline, std::less<>> ranks_{};  // by the name of the rank's folder: "main", "rank0"
  std::map<std::string, bool, std::less<>> loaded_{};           // names of recordings that were read
};

// A SameQuestion is one question about two commands, with runs of their own for it. Without a `claim` the finest
// precision that explains the difference is found.
struct SameQuestion {
  RunRequest a{}, b{};
  std::optional<Precision> claim{};
  ParityPlan plan{};
  bool exact = false;
  std::function<void(std::string_view what)>
      on_run{};  // called before each run with its name: "the command as it is", …
};
// Runs A and B, and A again as often as the decision needs. Returns an error if A or B cannot be run; a decision
// that cannot be made is the verdict kCannotTell, with the reason.
Result<ParityReport> AskWhetherSame(const SameQuestion& question);

// Asks it of two commands that were compared, where steps of theirs were seen; does nothing otherwise.
Result<void> AskWhetherSame(const PairPlan& plan, Comparison& comparison);

}  // namespace gapless::internal
