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

// Every command that reads recordings takes them in the same way. Several paths are the ranks of one job.
inline constexpr PositionalSpec kPathsPositional = {
    .name = "PATH",
    .help = "a recording, a folder of them or a .tar.gz; \"3=FILE\" assigns FILE to rank 3",
    .min = 1,
    .max = 100000,
    .is_path = true};
inline constexpr OptionSpec kRankOption = {.name = "rank",
                                           .takes = OptionSpec::Takes::kValue,
                                           .value = "LIST",
                                           .help = "Read only these ranks, e.g. 0,4-7",
                                           .is_list = true};
inline constexpr OptionSpec kAllStepsOption = {
    .name = "all-steps", .help = "Replay every step, not some that stand for all: slower, needs more memory"};
inline constexpr OptionSpec kNoCacheOption = {.name = "no-cache", .help = "Do not read or write the column cache"};

// "0,4-7" as numbers. `noun`: what each is, for the message; `hint`: how to give them.
Result<std::vector<int64_t>> ParseNumbers(const std::vector<std::string>& items, std::string_view noun,
                                          std::string_view hint);

// The options of reading by those above, with progress on `line` where standard error is a terminal.
OpenOptions OpenOptionsFrom(const Session& session, ProgressLine& line);
// Reads the paths as the options say. A usage error when --output or --json names one of the files that were read.
// Shows progress when standard error is a terminal and a second has passed.
Result<LoadedRun> LoadFor(const Arguments& arguments, const Session& session, std::span<const std::string> paths);

// The same, for verbs that analyse: with the tested predictions of --db, or of the user's own history.
Result<std::unique_ptr<RunAnalysis>> AnalysisFor(const Arguments& arguments, const Session& session,
                                                 std::span<const std::string> paths);

// Files that were read, as the file system names them: an archive for its members. No output may replace one of them
// (RefuseInput).
std::vector<std::string> InputFiles(const LoadedRun& loaded, std::span<const std::string> paths);

// Prints what could not be read or was lost as warnings on standard error, for commands whose output has no place for
// it.
void WarnOfLosses(const LoadedRun& loaded);

}  // namespace gapless::internal
