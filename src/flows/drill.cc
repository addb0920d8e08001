// SPDX-License-Identifier: Apache-2.0
#include "flows/drill.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "analyses/rows/exemplars.h"
#include "base/strings.h"
#include "cluster/condense.h"
#include "trace/identity.h"
#include "trace/summary.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

std::set<int64_t> ChosenTraces(const RunAnalysis& analysis, const std::vector<int64_t>& ranks) {
  std::set<int64_t> chosen;
  if (ranks.empty()) {
    const auto exemplars = analysis.tables().Get<ExemplarsRows>();
    for (size_t row = 0; row < exemplars.rows(); ++row) chosen.insert(exemplars.Int(row, "trace"));
  }
  for (const RunTrace* of : analysis.run().primary())
    if (std::ranges::count(ranks, of->rank()) > 0) chosen.insert(of->index);
  return chosen;
}

// Files that may be the recording, the likeliest first. `recorded`: its path, of an archive for its members.
std::vector<std::string> PlacesOf(const std::string& recorded, const std::string& summary) {
  std::vector<std::string> places{recorded};
  const fs::path beside = fs::path(summary).parent_path();
  constexpr int kFoldersOfPath = 3;
  fs::path end;
  fs::path whole(recorded);
  for (int part = 0; part < kFoldersOfPath && whole.has_filename(); ++part) {
    end = end.empty() ? whole.filename() : whole.filename() / end;
    for (const fs::path& folder : {beside, beside / ".."}) places.push_back((folder / end).string());
    whole = whole.parent_path();
  }
  return places;
}

// The recording at this place; null where it is another one.
std::shared_ptr<const Trace> RecordingAt(const std::string& place, const Trace& light, const OpenOptions& options) {
  const std::string path = light.info.rank == kAbsent ? place : StrCat(light.info.rank, "=", place);
  const auto loaded = LoadRun(std::span(&path, 1), options);
  if (!loaded) return nullptr;
  for (const RunTrace& of : loaded->run.traces())
    if (!of.trace->summary && IdentifyingFactsOf(*of.trace) == IdentifyingFactsOf(light)) return of.trace;
  return nullptr;
}

Result<std::shared_ptr<const Trace>> RecordingOf(const Trace& light, const OpenOptions& options) {
  const std::string recorded = light.info.path.substr(0, light.info.path.find("!/"));
  bool is_there = false;
  for (const std::string& place : PlacesOf(recorded, light.summary->tables.file)) {
    std::error_code error;
    if (!fs::is_regular_file(place, error)) continue;
    is_there = true;
    if (auto trace = RecordingAt(place, light, options)) return trace;
  }
  return Fail(ErrorCode::kInput,
              is_there ? "is not the recording that was summarised; its summary is used"
                       : "the recording is not there any more; its summary is used",
              recorded);
}

}  // namespace

Result<LoadedRun> Drill(const RunAnalysis& analysis, const DrillWishes& wishes) {
  const Run& run = analysis.run();
  const std::set<int64_t> chosen = ChosenTraces(analysis, wishes.ranks);
  std::vector<Error> failures = analysis.loaded().failures;
  for (const int64_t rank : wishes.ranks)
    if (std::ranges::none_of(run.primary(), [&](const RunTrace* of) { return of->rank() == rank; }))
      return Fail(ErrorCode::kUsage, StrCat("there is no rank ", rank), "--drill");
  std::vector<std::shared_ptr<const Trace>> traces;
  for (const RunTrace& of : run.traces()) {
    traces.push_back(of.trace);
    if (!of.trace->summary || !chosen.contains(of.index)) continue;
    auto recording = RecordingOf(*of.trace, wishes.open);
    if (wishes.open.cancel_flag != nullptr && wishes.open.cancel_flag->load())
      return Fail(ErrorCode::kInterrupted, "interrupted");
    if (recording)
      traces.back() = *std::move(recording);
    else
      failures.push_back(recording.error());
  }
  GAPLESS_ASSIGN(Run drilled, AllCondensed(Run(std::move(traces), {}, run.roles()), Detail::kEvents));
  return LoadedRun{std::move(drilled), std::move(failures)};
}

}  // namespace gapless::internal
