// SPDX-License-Identifier: Apache-2.0
// The parts shared by commands that read (analyze, query, …): their options, and reading with progress on standard
// error.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "cli/command.h"
#include "cli/progress.h"
#include "flows/analysis.h"
#include "ingest/load.h"

namespace gapless::internal {

// All that commands that read recordings have in common. Several paths are the ranks of one job. A command lists those
// of these options that it honours.
struct ReadArguments : Arguments {
  std::vector<std::string> paths{};
  std::string output{}, db{}, source_root{};  // empty: not given
  std::vector<int64_t> rank{};
  std::vector<std::string> role{};  // REGEX=NAME
  std::string lead_role{};
  std::optional<int64_t> memory{};  // bytes
  bool all_steps = false, no_cache = false, redact = false;
};
// "0,4-7" as numbers of ranks.
Result<std::vector<int64_t>> ReadRanks(const OptionSpec& option, std::string_view text);

inline constexpr auto kPathsWord =
    Word<&ReadArguments::paths>(
        "PATH", "a recording, a folder of them or a .tar.gz; - reads standard input; \"3=FILE\" assigns FILE to rank 3")
        .Times(1, 100000)
        .Path();
inline constexpr auto kRankOption =
    Parsed<&ReadArguments::rank, ReadRanks>("LIST", "Read only these ranks, e.g. 0,4-7");
inline constexpr auto kAllStepsOption =
    Flag<&ReadArguments::all_steps>("Replay every step, not some that stand for all: slower, needs more memory");
// The way a verb reads, last in its list.
inline constexpr OptionList kReadingOptions{
    Flag<&ReadArguments::redact>("Replace paths, source files, hosts and users by names"),
    Text<&ReadArguments::source_root>("DIR", "Find the recorded sources below DIR"),
    Text<&ReadArguments::role>("REGEX=NAME", "Give processes that match a role in the job, e.g. vllm=rollout"),
    Text<&ReadArguments::lead_role>("NAME", "Analyse the processes of this role (those that train)"),
    Flag<&ReadArguments::no_cache>("Do not read or write the column cache"),
    Parsed<&ReadArguments::memory, ReadBytes>("SIZE", "Keep at most SIZE of recordings in memory (512M)"),
};

// "0,4-7" as numbers. `noun`: what each is, for the message; `hint`: how to give them.
Result<std::vector<int64_t>> ParseNumbers(std::string_view text, std::string_view noun, std::string_view hint);

// The options of reading, with progress on `line` where standard error is a terminal.
OpenOptions OpenOptionsFrom(const Session& session, ProgressLine& line);
// Reads the paths as the options say. A usage error when --output, --json or one of `outputs` names one of the files
// that were read. Shows progress when standard error is a terminal and a second has passed.
Result<LoadedRun> LoadFor(const ReadArguments& arguments, const Session& session, std::span<const std::string> paths,
                          std::span<const std::string> outputs = {});

// Honours --source-root and --redact.
Result<void> ChangeSources(const ReadArguments& arguments, const Session& session, LoadedRun& loaded);

// The name of a run that two or more of a call compare: the path as given, or with --redact `letter`.
std::string ShownName(const ReadArguments& arguments, const std::string& path, std::string_view letter);

// The same, for verbs that analyse: with the tested predictions of --db, or of the user's own history.
// `lost` were given too, and could not be read before.
Result<std::unique_ptr<RunAnalysis>> AnalysisFor(const ReadArguments& arguments, const Session& session,
                                                 std::span<const std::string> paths, std::vector<Error> lost = {});

// Files that were read, as the file system names them: an archive for its members. No output may replace one of them
// (RefuseInput).
std::vector<std::string> InputFiles(const LoadedRun& loaded, std::span<const std::string> paths);

// Prints what could not be read or was lost as warnings on standard error, for commands whose output has no place for
// it.
void WarnOfLosses(const LoadedRun& loaded);

}  // namespace gapless::internal
