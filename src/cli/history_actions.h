// SPDX-License-Identifier: Apache-2.0
// The options of a history, and the actions of `gapless history`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/session.h"
#include "store/history.h"
#include "store/result_reader.h"

namespace gapless::internal {

// All that commands that keep or read a history have in common: its place, and what describes a run or selects runs. A
// command lists those of these options that it honours, with what they mean there.
struct HistoryOptions {
  std::string db{}, column{};  // empty: not given
  std::optional<std::string> branch{}, commit{}, label{};
  std::vector<std::string> metric{};
  bool here = false;
  std::optional<int64_t> since{}, until{};  // Unix time in ns, both included
  std::optional<int64_t> limit{};
};
// A date or a time; as an end, a date includes its whole day.
Result<int64_t> ReadSince(const OptionSpec& option, std::string_view text);
Result<int64_t> ReadUntil(const OptionSpec& option, std::string_view text);

inline constexpr auto kDbOption =
    Text<&HistoryOptions::db>("URL", "Use the history at URL: sqlite:FILE or postgresql://…");
inline constexpr auto kColumnOption =
    Text<&HistoryOptions::column>("NAME", "Read this column of a CSV file, given by name or number");
inline constexpr auto kLabelOption =
    Text<&HistoryOptions::label>("NAME", "Name the benchmark, if the history holds several");
inline constexpr auto kSinceOption =
    Parsed<&HistoryOptions::since, ReadSince>("TIME", "Select runs from this date or time on (UTC)");
inline constexpr auto kUntilOption =
    Parsed<&HistoryOptions::until, ReadUntil>("TIME", "Select runs up to and including this date or time (UTC)");
// Commands that measure have these: what the run is recorded as.
inline constexpr auto kBranchOption = Text<&HistoryOptions::branch>("NAME", "Set the branch of the result (git's)");
inline constexpr auto kCommitOption = Text<&HistoryOptions::commit>("SHA", "Set the commit of the result (git's)");

struct HistoryArguments;
using HistoryAction = Result<int> (*)(const HistoryArguments& arguments, const Session& session);
struct HistoryArguments : Arguments, HistoryOptions {
  HistoryAction action = nullptr;
  std::string file{};  // or the number of a run; empty if it was not given
  bool csv = false;
};

// The documents that the actions print with --json.
extern const TypeInfo kHistoryListDocument, kHistoryRecordDocument, kHistoryExportDocument, kHistoryImportDocument,
    kHistoryAcceptDocument;

// The actions. Each returns the exit status 0 or an error.
inline constexpr size_t kShownCommit = 12;  // characters of a commit that a text has

Result<int> HistoryRecord(const HistoryArguments& arguments, const Session& session);
Result<int> HistoryList(const HistoryArguments& arguments, const Session& session);
Result<int> HistoryExport(const HistoryArguments& arguments, const Session& session);
Result<int> HistoryImport(const HistoryArguments& arguments, const Session& session);

// Accepts the level of a run as the gate's baseline. An error: the word is not a number, or no run has it.
Result<int> HistoryAccept(const HistoryArguments& arguments, const Session& session);

// Puts what --label, --branch and --commit say, and what git says of the working folder, into the record. Options win
// over the record, the record over git.
void TakeGiven(const HistoryOptions& options, BenchmarkRecord& record);
// Returns the record that the options and the file (null: none) describe, with a new uid and with what git says of the
// working folder. An error: the file holds a history, no run of it succeeded, or there is no metric.
Result<BenchmarkRecord> RecordOf(const HistoryOptions& options, const ResultFile* file);
// Adds what the options and git say to a record; an error: it has no metric.
Result<BenchmarkRecord> FinishRecord(const HistoryOptions& options, BenchmarkRecord record);
// Returns the runs that --branch, --commit, --label, --since, --until and --limit select.
HistoryFilter FilterOf(const HistoryOptions& options);

}  // namespace gapless::internal
