// SPDX-License-Identifier: Apache-2.0
#include "flows/optimize_progress.h"

#include <unistd.h>

#include <utility>

#include "base/described_json.h"
#include "base/redact.h"
#include "base/strings.h"
#include "collect/allowed_hosts.h"
#include "collect/files.h"
#include "optimize/recipe_use.h"
#include "report/optimize/report.h"

namespace gapless::internal {
namespace {

constexpr size_t kMostProgressBytes = size_t{8} << 20;

int64_t NowUnixMs() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch()).count();
}

// Reasons may quote the program's output, which may hold secrets.
documents::DecidedFix DecidedOf(const Decision& decision) {
  return {.fix = decision.item.ToString(),
          .outcome = std::string(ToString(decision.outcome)),
          .reason = RedactText(decision.reason),
          .predicted = decision.predicted,
          .measured = decision.measured,
          .pairs = static_cast<int64_t>(decision.pairs),
          .took_s = decision.took_s};
}

}  // namespace

std::string DoingOf(const PlannerEvent& event) {
  const std::string item = event.item != nullptr ? event.item->ToString() : "all together";
  switch (event.kind) {
    case PlannerEvent::Kind::kBaseline: return "running it as it is";
    case PlannerEvent::Kind::kScreening: return "switching all fixes in one run";
    case PlannerEvent::Kind::kRetesting: return StrCat("is ", item, " still needed?");
    case PlannerEvent::Kind::kFinal: return "all together";
    case PlannerEvent::Kind::kPair:
      return StrCat(item, ", pair ", event.contest->sequence.size(), ": ", SpeedupText(event.contest->Speedup()));
    case PlannerEvent::Kind::kTrying:
    case PlannerEvent::Kind::kDecided: break;
  }
  return StrCat("trying ", item);
}

ProgressFile::ProgressFile(const std::string& folder, const std::vector<std::string>& command, double budget_s)
    : path_(StrCat(folder, "/", kProgressFile)),
      progress_{.command = ShellCommand(RedactCommand(command)),
                .state = "recording",
                .host = MachineName(),
                .pid = ::getpid(),
                .began_unix_ms = NowUnixMs(),
                .budget_s = budget_s,
                .trial = documents::CurrentTrial{.what = "recording the command"}} {
  Write(true);
}

ProgressFile::~ProgressFile() {
  if (finished_) return;
  progress_.state = "failed";
  progress_.trial.reset();
  Write(true);
}

// A fix that was accepted and then removed again has a later decision, which stands after the earlier one.
void ProgressFile::On(const PlannerEvent& event) {
  progress_.state = "trying";
  if (event.of > 0) progress_.done = static_cast<int64_t>(event.done), progress_.of = static_cast<int64_t>(event.of);
  if (event.kind == PlannerEvent::Kind::kDecided) {
    progress_.decisions.push_back(DecidedOf(*event.decision));
    return Write(true);
  }
  documents::CurrentTrial trial{.what = DoingOf(event), .fix = event.item != nullptr ? event.item->ToString() : ""};
  if (event.kind == PlannerEvent::Kind::kPair) {
    trial.pairs = static_cast<int64_t>(event.contest->sequence.size());
    trial.speedup = event.contest->Speedup();
  }
  progress_.trial = std::move(trial);
  Write(event.kind != PlannerEvent::Kind::kPair);
}

void ProgressFile::Finish() {
  finished_ = true;
  progress_.state = "done";
  progress_.trial.reset();
  Write(true);
}

void ProgressFile::Write(bool now) {
  constexpr std::chrono::milliseconds kBetween{500};
  const auto time = std::chrono::steady_clock::now();
  if (!now && time - written_ < kBetween) return;
  written_ = time;
  progress_.updated_unix_ms = NowUnixMs();
  (void)WriteFileAtomically(path_, DocumentOf("optimize", progress_), 0600);
}

Result<documents::OptimizeProgress> ReadProgress(const std::string& folder) {
  return ReadJson<documents::OptimizeProgress>(ContentOf(StrCat(folder, "/", kProgressFile), kMostProgressBytes));
}

}  // namespace gapless::internal
