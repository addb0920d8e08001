// SPDX-License-Identifier: Apache-2.0
// Expands directories, and run directories with the directories in them. Names decide which files are looked at.
#include "ingest/input_paths.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "base/strings.h"
#include "ingest/reader.h"
#include "ingest/readers/nsys_stats/names.h"
#include "wire/control_block.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

// Returns true if files of this name are looked for in directories: the readers' extensions and those of tar
// archives.
// PyTorch's flight recorder writes files without an extension: nccl_trace_rank_3.
bool IsDumpOfRank(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  return name.find('.') == name.npos && !name.empty() && name.back() >= '0' && name.back() <= '9' &&
         RankInName(name) != kAbsent;
}

bool HasExtension(std::string_view path) {
  if (IsDumpOfRank(path)) return true;
  for (const Reader* reader : AllReaders())
    for (const std::string_view extension : reader->extensions)
      if (path.ends_with(extension)) return true;
  return path.ends_with(".tar") || path.ends_with(".tar.gz") || path.ends_with(".tgz") || path.ends_with(".tar.zst");
}

// Many files end in .jsonl that are no recordings, such as data sets: only what a reader knows for sure is looked for.
bool IsKnownJsonLines(const std::string& path) {
  if (!path.ends_with(".jsonl") && !path.ends_with(".jsonl.gz")) return false;
  std::string head(size_t{64} * 1024, '\0');
  const auto source = OpenFile(path);
  if (!source) return false;
  const auto stream = (*source)->Open();
  const auto got = stream ? (*stream)->Read(head.data(), head.size()) : Result<size_t>(size_t{0});
  head.resize(got ? *got : 0);
  return std::ranges::any_of(AllReaders(), [&](const Reader* reader) { return reader->sniff(head) == Sniff::kYes; });
}

// Endings of two files of one recording, of which the second is read: one recording is not two. An export of Nsight
// Systems has all of its report; the agent sums up its samples; an XSpace has all of the events that were made of it;
// the table of kernels is read with the tables beside it.
constexpr std::pair<std::string_view, std::string_view> kSame[] = {
    {".nsys-rep", ".sqlite"},
    {".qdrep", ".sqlite"},
    {".jsonl", ".sqlite"},
    {".jsonl", ".nsys-rep"},
    {".ncu-rep", ".ncu.csv"},
    {".speedscope.json", ".host.json"},
    {".trace.json.gz", ".xplane.pb"},
    {"_hip_api_trace.csv", "_kernel_trace.csv"},
    {"_hsa_api_trace.csv", "_kernel_trace.csv"},
    {"_marker_api_trace.csv", "_kernel_trace.csv"},
    {"_rccl_api_trace.csv", "_kernel_trace.csv"},
    {"_memory_copy_trace.csv", "_kernel_trace.csv"},
    {"_memory_allocation_trace.csv", "_kernel_trace.csv"},
    {"_scratch_memory_trace.csv", "_kernel_trace.csv"},
    {"_counter_collection.csv", "_kernel_trace.csv"},
    {"_agent_info.csv", "_kernel_trace.csv"},
    {"_kernel_stats.csv", "_kernel_trace.csv"},
    {"_hip_api_stats.csv", "_kernel_trace.csv"},
    {"_domain_stats.csv", "_kernel_trace.csv"},
    {"_domain_stats.csv", "_kernel_stats.csv"},
    {"/results.stats.csv", "/results.csv"},
    {"/results.csv", "/results.json"}};

// Returns true if `holds` is true of a file that is read instead of this one.
template <class Holds>
bool IsReadWithAnother(std::string_view path, Holds holds) {
  if (std::ranges::any_of(nsys_stats::ReadInstead(path), holds)) return true;
  return std::ranges::any_of(kSame, [&](const auto& same) {
    return path.ends_with(same.first) && holds(StrCat(path.substr(0, path.size() - same.first.size()), same.second));
  });
}

bool HasExportBeside(std::string_view path) {
  return IsReadWithAnother(path, [](const std::string& other) {
    std::error_code error;
    return fs::exists(other, error);
  });
}

// Leaves out what was given together with the file that is read for both.
void LeaveOutSame(std::vector<InputPath>& inputs) {
  std::set<std::string> paths;
  for (const InputPath& input : inputs) paths.insert(input.path);
  std::erase_if(inputs, [&](const InputPath& input) {
    return IsReadWithAnother(input.path, [&](const std::string& other) { return paths.contains(other); });
  });
}

// Splits "3=path" into rank and path, unless a file has that very name. Text before "=" that is not a whole number
// ≥ 0 belongs to the path.
InputPath ParseInputPath(const std::string& argument) {
  InputPath input{argument, kAbsent, true, ""};
  const size_t equals = argument.find('=');
  std::error_code ignored;
  if (equals == std::string::npos || equals == 0 || fs::exists(argument, ignored)) return input;
  int64_t rank = 0;
  const auto [end, error] = std::from_chars(argument.data(), argument.data() + equals, rank);
  if (error != std::errc() || end != argument.data() + equals || rank < 0) return input;
  input.path = argument.substr(equals + 1);
  input.given_rank = rank;
  return input;
}

// Recordings of a run folder (docs/run_bundle.md) lie in a folder per rank. JSON files beside them are not all
// recordings.
bool IsRecordingOfRun(const std::string& folder, const std::string& name) {
  const bool is_json = name.find(".json") != std::string::npos;
  const bool is_known_json = name.find(".pt.trace.json") != std::string::npos || name.ends_with(".host.json");
  if (name.ends_with(".tmp") || (is_json ? !is_known_json : !HasExtension(name))) return false;
  if (HasExportBeside(StrCat(folder, "/", name))) return false;
  // A ring is read together with what was saved of it.
  constexpr std::string_view kSaved = ".events";
  std::error_code error;
  return !name.ends_with(kSaved) ||
         !fs::exists(StrCat(folder, "/", name.substr(0, name.size() - kSaved.size()), ".ring"), error);
}

// Collects the recordings of a run directory and of the directories directly in it. "tools" is left out: it holds
// what gapless put into the processes.
void FindInRun(const std::string& folder, int depth, std::vector<std::string>& found) {
  std::error_code ended, error;
  for (fs::directory_iterator at(folder, ended), end; !ended && at != end; at.increment(ended)) {
    const std::string name = at->path().filename().string();
    const fs::file_status status = at->symlink_status(error);  // a link leads out of the run
    if (fs::is_regular_file(status) && IsRecordingOfRun(folder, name)) found.push_back(at->path().string());
    if (depth == 0 && fs::is_directory(status) && name != "tools") FindInRun(at->path().string(), 1, found);
  }
}

// Returns the files of a directory that may be recordings by their names.
std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code ended, error;
  for (fs::directory_iterator at(folder, ended), end; !ended && at != end; at.increment(ended))
    if (const std::string path = at->path().string();
        at->is_regular_file(error) && (HasExtension(path) || IsKnownJsonLines(path)) && !HasExportBeside(path))
      found.push_back(path);
  return found;
}

// Collects the recordings of all directories in `folder`, at all levels. Leaves hidden directories out. A run directory
// holds its recordings one level deeper. Links may lead in circles, so there is a deepest level.
void FindBelow(const std::string& folder, int depth, std::vector<std::string>& found) {
  constexpr int kDeepest = 8;
  std::error_code ended, error;
  for (fs::directory_iterator at(folder, ended), end; !ended && at != end; at.increment(ended)) {
    const std::string path = at->path().string();
    if (!at->is_directory(error) || at->path().filename().string().starts_with('.')) continue;
    if (IsRunFolder(path)) {
      FindInRun(path, 0, found);
      continue;
    }
    for (std::string& file : FilesIn(path)) found.push_back(std::move(file));
    if (depth < kDeepest && !at->is_symlink(error)) FindBelow(path, depth + 1, found);
  }
}

// Returns the inputs in name order.
std::vector<InputPath> Sorted(std::vector<std::string> found, int64_t given_rank, const std::string& folder) {
  std::sort(found.begin(), found.end());
  std::vector<InputPath> inputs;
  for (std::string& path : found) inputs.push_back({std::move(path), given_rank, false, folder});
  return inputs;
}

// Returns true if the folder holds a file for each table, as nsys export --type parquetdir and arrowdir write them.
bool HoldsTablesOfNsys(const std::string& folder) {
  std::error_code error;
  return std::ranges::any_of(std::array{".parquet", ".arrow"}, [&](std::string_view ending) {
    return std::ranges::any_of(
        std::array{"StringIds", "TARGET_INFO_GPU", "CUPTI_ACTIVITY_KIND_KERNEL"},
        [&](std::string_view table) { return fs::exists(StrCat(folder, "/", table, ending), error); });
  });
}

// Returns the first script of Python in the folder, by name; "" if there is none.
std::string ScriptIn(const std::string& folder) {
  std::error_code error;
  std::string first;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string path = at->path().string();
    const bool is_script = path.ends_with(".py") && !at->path().filename().string().starts_with('_');
    if (is_script && (first.empty() || path < first)) first = std::move(path);
  }
  return first;
}

// Returns the recordings that a directory leads to.
Result<std::vector<InputPath>> InputPathsIn(const InputPath& input) {
  std::vector<std::string> found;
  if (IsRunFolder(input.path)) {
    FindInRun(input.path, 0, found);
    if (!found.empty()) return Sorted(std::move(found), input.given_rank, "");
    return Fail(ErrorCode::kInput, "nothing was recorded in this run", input.path,
                "its manifest.json says what ran; steps are seen where PyTorch trains or a model is called");
  }
  found = FilesIn(input.path);
  if (!found.empty()) return Sorted(std::move(found), input.given_rank, input.path);
  auto below = InputPathsBelow(input.path, input.given_rank);
  if (!below.empty()) return below;
  if (HoldsTablesOfNsys(input.path))
    return Fail(ErrorCode::kInput, "this is an export of Nsight Systems as Parquet or Arrow, which cannot be read",
                input.path, "nsys export --type sqlite REPORT.nsys-rep, or give REPORT.nsys-rep itself");
  const std::string script = ScriptIn(input.path);
  return Fail(ErrorCode::kInput, "no recording in this folder", input.path,
              script.empty() ? "looked for .json, .json.gz, .json.zst and tar archives, here and in the folders below"
                             : StrCat("to make one: gapless profile -- python ", ShellWord(script)));
}

}  // namespace

std::vector<InputPath> InputPathsBelow(const std::string& folder, int64_t given_rank) {
  std::vector<std::string> found;
  FindBelow(folder, 0, found);
  return Sorted(std::move(found), given_rank, "");
}

Result<std::vector<InputPath>> InputPathsOf(std::span<const std::string> paths) {
  std::vector<InputPath> inputs;
  for (const std::string& argument : paths) {
    const InputPath input = ParseInputPath(argument);
    std::error_code error;
    if (!fs::is_directory(input.path, error)) {
      inputs.push_back(input);
      continue;
    }
    auto found = InputPathsIn(input);
    if (!found) return found;
    std::move(found->begin(), found->end(), std::back_inserter(inputs));
  }
  LeaveOutSame(inputs);
  return inputs;
}

bool IsRunFolder(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path + "/control", error)) return false;
  if (fs::exists(path + "/manifest.json", error)) return true;
  // The manifest of a run on a disk that was full may be missing. The control file alone must then show by its
  // magic that it is ours.
  std::string magic(wire::kControlMagic.size(), '\0');
  std::ifstream(path + "/control", std::ios::binary).read(magic.data(), static_cast<std::streamsize>(magic.size()));
  return magic == wire::kControlMagic;
}

int64_t RankInName(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  // Tries every "rank" in the name: "rank_test_rank3" has a number only behind the second.
  for (size_t at = 0; (at = name.find("rank", at)) != std::string_view::npos; at += 4) {
    size_t digits = at + 4;
    if (digits < name.size() && (name[digits] == '-' || name[digits] == '_' || name[digits] == '.')) ++digits;
    int64_t rank = 0;
    const auto [end, error] = std::from_chars(name.data() + digits, name.data() + name.size(), rank);
    if (error == std::errc() && end != name.data() + digits && rank >= 0) return rank;
  }
  return kAbsent;
}

}  // namespace gapless::internal
