// SPDX-License-Identifier: Apache-2.0
// progress.json in the folder of `gapless optimize`: what is being tried, what was decided and why, how much of the
// budget is used. For people who look at it meanwhile (`gapless serve`); the journal, not this file, is what an
// interrupted run continues from.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/result.h"
#include "optimize/planner.h"
#include "proof/described.h"

namespace gapless::internal {

namespace documents {

// The trial that is under way.
struct CurrentTrial {
  std::string what{}, fix{};
  std::optional<int64_t> pairs{};
  std::optional<RatioInterval> speedup{};
  static constexpr FieldInfo kFields[] = {
      Field<&CurrentTrial::what>("what", "", "what is being done, in words"),
      Field<&CurrentTrial::fix>("fix", "", "fix and its value", kUnlessEmpty),
      Field<&CurrentTrial::pairs>("pairs", "count", "pairs of the comparison so far"),
      Field<&CurrentTrial::speedup>("speedup", "", "speed-up in these pairs"),
  };
};

struct DecidedFix {
  std::string fix{}, outcome{}, reason{};
  std::optional<RatioInterval> predicted{}, measured{};
  int64_t pairs = 0;
  double took_s = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&DecidedFix::fix>("fix", "", "fix and its value"),
      Field<&DecidedFix::outcome>("outcome", "", "accepted, or why not, in one word"),
      Field<&DecidedFix::reason>("reason", "", "why, as a sentence"),
      Field<&DecidedFix::predicted>("predicted", "", "predicted speed-up"),
      Field<&DecidedFix::measured>("measured", "", "measured speed-up over the fixes before it"),
      Field<&DecidedFix::pairs>("pairs", "count", "pairs that were measured"),
      Field<&DecidedFix::took_s>("took_s", "s", "time of the decision"),
  };
};

struct OptimizeProgress {
  std::string command{}, state{}, host{};
  int64_t pid = 0, began_unix_ms = 0, updated_unix_ms = 0;
  double budget_s = 0;
  int64_t done = 0, of = 0;
  std::optional<CurrentTrial> trial{};
  std::vector<DecidedFix> decisions{};
  static constexpr FieldInfo kFields[] = {
      Field<&OptimizeProgress::command>("command", "", "the command, without secrets"),
      Field<&OptimizeProgress::state>("state", "", "recording, trying, done or failed"),
      Field<&OptimizeProgress::host>("host", "", "machine it runs on"),
      Field<&OptimizeProgress::pid>("pid", "", "its process there"),
      Field<&OptimizeProgress::began_unix_ms>("began_unix_ms", "ms", "since when the budget runs, in Unix time"),
      Field<&OptimizeProgress::updated_unix_ms>("updated_unix_ms", "ms", "when this was written, in Unix time"),
      Field<&OptimizeProgress::budget_s>("budget_s", "s", "time that is given"),
      Field<&OptimizeProgress::done>("done", "count", "candidates that are decided"),
      Field<&OptimizeProgress::of>("of", "count", "candidates in all; 0: not known yet"),
      Field<&OptimizeProgress::trial>("trial", "", "what is being done; missing: nothing any more"),
      Field<&OptimizeProgress::decisions>("decisions", "", "what was decided, in order"),
  };
};

}  // namespace documents

inline constexpr std::string_view kProgressFile = "progress.json";

// Writes the file as a whole after each decision, and in between at most twice a second. It is for its owner only. One
// that cannot be written does not stop the search.
class ProgressFile {
 public:
  ProgressFile(const std::string& folder, const std::vector<std::string>& command, double budget_s);
  // Without Finish() it says "failed" from then on.
  ~ProgressFile();
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;

  void On(const PlannerEvent& event);
  void Finish();

 private:
  void Write(bool now);

  std::string path_;
  documents::OptimizeProgress progress_{};
  std::chrono::steady_clock::time_point written_{};
  bool finished_ = false;
};

// Returns what is done at an event, in words: "trying workers=4".
std::string DoingOf(const PlannerEvent& event);

// The file in a folder; an error: there is none, or it is another file.
Result<documents::OptimizeProgress> ReadProgress(const std::string& folder);

}  // namespace gapless::internal
