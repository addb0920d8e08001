// SPDX-License-Identifier: Apache-2.0
// Asks whether a change leaves the answers of a program that infers the same (docs/parity.md): keeps the recordings of
// the unchanged command, has the probes made that a decision still needs, and lets validate/output_parity.h decide.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "collect/agent_options.h"
#include "collect/files.h"
#include "trial/run_once.h"
#include "validate/output_parity.h"

namespace gapless::internal {

struct OutputPlan {
  int calls = 64;       // of the model, to record
  double seconds = 10;  // after which no more are recorded
};

// Recordings of one command, by rank. They lie in a temporary folder, which goes with this.
class OutputParity {
 public:
  // Runs the command unchanged, recording as asked, and stops it when that is complete. An error: it cannot be run.
  using RunUnchanged = std::function<Result<RunSample>(const ParityOptions& options)>;
  static Result<OutputParity> Make(const OutputPlan& plan, RunUnchanged run);

  // The options of a run that is made anyway, of the unchanged command or the changed one. The baseline comes first.
  ParityOptions BaselineOptions() const;
  ParityOptions ProbeOptions(Precision precision) const;
  ParityOptions CandidateOptions();

  // Decides on the candidate that was recorded last; of several ranks by the one that differs most.
  Result<ParityReport> Judge(Precision claim);

 private:
  OutputParity(const OutputPlan& plan, RunUnchanged run, TemporaryFolder folder)
      : plan_(plan), run_(std::move(run)), folder_(std::move(folder)) {}
  ParityOptions OptionsFor(std::string_view role, std::string_view name) const;
  ParityOptions ProbeOf(double noise) const;
  Result<void> Load();
  Result<ParityReport> JudgeRanks(Precision claim);

  OutputPlan plan_;
  RunUnchanged run_;
  TemporaryFolder folder_;
  std::map<std::string, OutputBaseline, std::less<>> ranks_{};  // by the name of the rank's folder
  std::map<std::string, bool, std::less<>> loaded_{};           // names of recordings that were read
};

// Reads what the agent recorded of one process. What was cut off is left out. An error: it is no such recording.
Result<OutputRecording> ReadOutputRecording(const std::string& folder);

}  // namespace gapless::internal
