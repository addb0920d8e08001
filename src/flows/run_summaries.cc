// SPDX-License-Identifier: Apache-2.0
// Reads the recordings of one machine as `gapless summarize RUN` does, and writes what stands for them. Nothing is
// removed before every summary is written: a launcher that is killed meanwhile leaves all recordings.
#include "flows/run_summaries.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>

#include "analyses/analysis.h"
#include "base/strings.h"
#include "cluster/condense.h"
#include "cluster/summary_set.h"
#include "collect/private_files.h"
#include "ingest/input_paths.h"
#include "ingest/load.h"
#include "trace/summary_file.h"
#include "trace/summary_places.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

// "rank3/agent-7.events" of "/runs/a/rank3/agent-7.events".
std::string BelowRun(const RecordedRun& run, std::string_view path) {
  const std::string start = run.path + "/";
  return path.starts_with(start) ? std::string(path.substr(start.size())) : std::string();
}

bool IsOneOfSeveralLaunchers(const RecordedRun& run) {
  std::error_code ended;
  for (fs::directory_iterator at(run.path, ended), end; !ended && at != end; at.increment(ended))
    if (at->path().filename().string().starts_with(StrCat(kManifestStem, "-"))) return true;
  return false;
}

// The files to read: recordings of these processes, and what was measured around them.
Result<std::vector<std::string>> FilesToRead(const RecordedRun& run) {
  GAPLESS_ASSIGN(const auto inputs, InputPathsOf(std::span(&run.path, 1)));
  std::set<std::string> own;
  for (const RecordedRun::Process& process : run.processes) own.insert(process.folder);
  const bool is_alone = !IsOneOfSeveralLaunchers(run);
  std::vector<std::string> files;
  bool has_recording = false;
  for (const InputPath& input : inputs) {
    const std::string below = BelowRun(run, input.path);
    const size_t slash = below.find('/');
    if (below.substr(0, slash) == kSummariesFolder) continue;
    if (slash != below.npos && !is_alone && !own.contains(below.substr(0, slash))) continue;
    has_recording = has_recording || slash != below.npos;
    files.push_back(input.path);
  }
  if (!has_recording) files.clear();
  return files;
}

// Is the name that of a file which gapless gives a process: "agent-7.events", "cupti-7.gcs", "memory-7-1.pickle",
// "python-7.host.json"? Of agents only the files of processes that this launcher saw.
bool IsOfAgent(const RecordedRun& run, const std::string& folder, std::string_view name) {
  constexpr std::string_view kStems[] = {"agent-", "cupti-", "memory-", "python-"};
  const auto stem = std::ranges::find_if(kStems, [&](std::string_view each) { return name.starts_with(each); });
  if (stem == std::end(kStems)) return false;
  name.remove_prefix(stem->size());
  const std::string_view pid = name.substr(0, name.find_first_not_of("0123456789"));
  const auto is_its = [&](const RecordedRun::Process& process) {
    return process.folder == folder && StrCat(process.pid) == pid;
  };
  return !pid.empty() && pid.size() < name.size() && (*stem == "cupti-" || std::ranges::any_of(run.processes, is_its));
}

// May a file of the run folder be removed: has the profiler, the agent or the native collector written it?
bool IsOurs(const RecordedRun& run, const std::string& below) {
  const size_t slash = below.find('/');
  if (slash == below.npos || below.find('/', slash + 1) != below.npos) return false;
  const std::string folder = below.substr(0, slash), name = below.substr(slash + 1);
  for (const RecordedRun::Process& process : run.processes)
    if (process.folder == folder && std::ranges::count(process.recordings, name) > 0) return true;
  return IsOfAgent(run, folder, name);
}

// Writes summaries into an open folder, each under a name of its own, and reads each back.
class SummaryFolder {
 public:
  static Result<SummaryFolder> Make(const RecordedRun& run) {
    const Descriptor folder = OpenFolder(AT_FDCWD, run.path);
    if (folder.get() < 0) return Fail(ErrorCode::kEnvironment, "cannot be opened", run.path);
    const std::string path = StrCat(run.path, "/", kSummariesFolder);
    GAPLESS_ASSIGN(Descriptor made, MakeFolderIn(folder.get(), kSummariesFolder, path));
    return SummaryFolder(std::move(made), path);
  }

  // Returns the name.
  Result<std::string> Write(const RunTrace& of, std::string_view bytes) {
    const std::string name = NameFor(SummaryName(of.trace->info.rank, of.trace->info.path));
    const std::string path = StrCat(path_, "/", name);
    GAPLESS_TRY(WriteFileIn(folder_.get(), name, path, bytes));
    GAPLESS_ASSIGN(const std::string read, BytesAt(path, 0, bytes.size()));
    if (read != bytes) return Fail(ErrorCode::kEnvironment, "is not what was written", path);
    GAPLESS_TRY(ReadSummary(read));
    return StrCat(kSummariesFolder, "/", name);
  }

 private:
  SummaryFolder(Descriptor folder, std::string path) : folder_(std::move(folder)), path_(std::move(path)) {}

  std::string NameFor(const std::string& wanted) {
    for (int64_t number = 1;; ++number) {
      const std::string name = StrCat(wanted, number == 1 ? "" : StrCat("-", number), kSummaryExtension);
      struct stat there {};
      if (::fstatat(folder_.get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0) return name;
    }
  }

  Descriptor folder_;
  std::string path_;
};

// A recording that stands in a summary: itself, or one of the same process and stretch that has more.
bool IsSummarised(const Run& run, const RunTrace& of, const std::set<int>& summarised) {
  if (summarised.contains(of.index)) return true;
  return of.role == Role::kSupplement && of.execution == 0 &&
         std::ranges::any_of(run.traces(), [&](const RunTrace& other) {
           return other.process == of.process && summarised.contains(other.index);
         });
}

void RemoveRecordings(const RecordedRun& recorded, const Run& run, const std::set<int>& summarised,
                      RunSummaries& done) {
  for (const RunTrace& of : run.traces()) {
    const std::string below = BelowRun(recorded, of.trace->info.path);
    if (!IsOurs(recorded, below)) continue;
    if (!IsSummarised(run, of, summarised)) {
      done.without.push_back({ErrorCode::kInput, "is not of what is analysed", of.trace->info.path, ""});
      continue;
    }
    if (::unlink(of.trace->info.path.c_str()) == 0) done.removed.insert(below);
  }
}

}  // namespace

RecordedRun RecordedRunOf(const LaunchResult& run) {
  RecordedRun recorded{.path = run.path};
  for (const auto& process : run.processes)
    recorded.processes.push_back(
        {.folder = process->folder, .pid = process->ring.header().pid, .recordings = process->recordings});
  return recorded;
}

Result<RunSummaries> SummarizeRun(const RecordedRun& run, const SummaryWishes& wishes) {
  const auto begun = std::chrono::steady_clock::now();
  RunSummaries done;
  const auto files = FilesToRead(run);
  if (!files || files->empty()) return done;  // nothing was recorded, which is said elsewhere
  OpenOptions options{.use_cache = false};
  options.cancel_flag = wishes.cancel;
  auto loaded = LoadRun(*files, options);
  if (!loaded && loaded.error().code == ErrorCode::kInterrupted) return Unexpected{loaded.error()};
  if (!loaded) return done.without.push_back(loaded.error()), done;
  done.without = loaded->failures;
  GAPLESS_ASSIGN(auto folder, SummaryFolder::Make(run));
  Tables tables(loaded->run);
  std::set<int> summarised;
  for (const RunTrace* of : WorthSummaries(loaded->run)) {
    if (wishes.cancel != nullptr && wishes.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
    if (BelowRun(run, of->trace->info.path).find('/') == std::string::npos) continue;  // samples of the machine
    const std::string bytes = CondenseAny(tables, *of);
    GAPLESS_ASSIGN(std::string name, folder.Write(*of, bytes));
    std::error_code error;
    const auto size = fs::file_size(of->trace->info.path, error);
    if (!error) done.recorded_bytes += static_cast<int64_t>(size);
    done.bytes += static_cast<int64_t>(bytes.size());
    done.written.push_back(std::move(name));
    summarised.insert(of->index);
  }
  if (wishes.only) RemoveRecordings(run, loaded->run, summarised, done);
  done.ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begun).count();
  return done;
}

}  // namespace gapless::internal
