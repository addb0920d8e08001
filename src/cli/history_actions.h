// SPDX-License-Identifier: Apache-2.0
// The actions of `gapless history`. FILE is the second argument; empty if it was not given.
#pragma once

#include <string>

#include "cli/arguments.h"
#include "cli/session.h"
#include "store/history.h"
#include "store/result_reader.h"

namespace gapless::internal {

// The documents that the actions print with --json.
extern const TypeInfo kHistoryListDocument, kHistoryRecordDocument, kHistoryExportDocument, kHistoryImportDocument,
    kHistoryAcceptDocument;

// The actions. Each returns the exit status 0 or an error.
inline constexpr size_t kShownCommit = 12;  // characters of a commit that a text has

Result<int> HistoryRecord(const Arguments& arguments, const std::string& file);
Result<int> HistoryList(const Arguments& arguments, const Session& session);
Result<int> HistoryExport(const Arguments& arguments, const Session& session, const std::string& file);
Result<int> HistoryImport(const Arguments& arguments, const Session& session, const std::string& file);

// Accepts the level of run number `run` as the gate's baseline. An error: `run` is not a number, or no run has it.
Result<int> HistoryAccept(const Arguments& arguments, const std::string& run);

// Puts what --label, --branch and --commit say, and what git says of the working folder, into the record. Options win
// over the record, the record over git.
void TakeGiven(const Arguments& arguments, BenchmarkRecord& record);
// Returns the record that the options and the file (null: none) describe, with a new uid and with what git says of the
// working folder. An error: the file holds a history, no run of it succeeded, or there is no metric.
Result<BenchmarkRecord> RecordFromArguments(const Arguments& arguments, const ResultFile* file);
// Reads --branch, --commit, --label, --since, --until and --limit. An error names the option whose value is wrong.
Result<HistoryFilter> FilterFrom(const Arguments& arguments);

}  // namespace gapless::internal
