// SPDX-License-Identifier: Apache-2.0
// Imports histories from JSON lines and CSV. A record that is already in the history is skipped, and records are added
// some hundred per transaction.
//
// JSON lines hold everything and keep the uid, by which a record is known again. CSV has no uid: one is made from the
// digest of the row and its occurrence, and a row is skipped while the history has as many rows of the same digest. So
// two equal rows of one file stay two, and importing the file twice adds nothing. Counting needs one pass over the
// history without its samples, and memory for a digest per distinct row.
//
// An error names its line; the records before that line are stored.
#include "store/transfer.h"

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "store/benchmarks_csv.h"
#include "store/record_lines.h"
#include "store/text_rows.h"

namespace gapless::internal {
namespace {

constexpr size_t kRecordsAtOnce = 500,
                 kBytesAtOnce = size_t{4} << 20;  // limits of a transaction; the first that is reached ends it

bool IsSet(const std::atomic<bool>* cancel) { return cancel != nullptr && cancel->load(); }

Unexpected Interrupted() { return Fail(ErrorCode::kInterrupted, "interrupted"); }

// Adds the place to an error that has none.
Unexpected At(Error error, const TextRows& rows) {
  if (error.place.empty()) error.place = rows.place();
  return {std::move(error)};
}

// Collects records and stores some hundred in one transaction. Tested predictions are stored one by one.
class Batch {
 public:
  explicit Batch(History& history) : history_(history) {}
  // `bytes`: the length of the record in the text.
  Result<void> Add(BenchmarkRecord record, size_t bytes) {
    records_.push_back(std::move(record));
    bytes_ += bytes;
    return records_.size() < kRecordsAtOnce && bytes_ < kBytesAtOnce ? Result<void>() : Flush();
  }
  Result<void> Flush() {
    if (records_.empty()) return {};
    const auto recorded = history_.RecordAll(records_);
    records_.clear();
    bytes_ = 0;
    GAPLESS_TRY(recorded);
    for (const Recorded& item : *recorded) ++(item.added ? imported_.added : imported_.present);
    return {};
  }
  // A line of an exported history.
  Result<void> AddLine(std::string_view line);
  void SkipOne() { ++imported_.present; }
  const Imported& imported() const { return imported_; }

 private:
  History& history_;
  std::vector<BenchmarkRecord> records_;
  size_t bytes_ = 0;  // size of the text of records_
  Imported imported_;
};

// Stores a line of either kind. A record without a uid is refused: importing it twice would add it twice.
Result<void> Batch::AddLine(std::string_view line) {
  GAPLESS_ASSIGN(auto any, AnyFromLine(line));
  if (std::visit([](const auto& record) { return record.uid.empty(); }, any))
    return Fail(ErrorCode::kInput, "the record has no uid");
  if (auto* const record = std::get_if<BenchmarkRecord>(&any)) return Add(std::move(*record), line.size());
  GAPLESS_ASSIGN(const auto added, history_.RecordAdvice(std::get<AdviceRecord>(any)));
  ++(added ? imported_.advice : imported_.present);
  return {};
}

// Stores what came before, as the contract of the header says, and then returns the error of a row.
Result<Imported> EndAt(Batch& batch, const TextRows& rows, const Error& error) {
  GAPLESS_TRY(batch.Flush());
  return At(error, rows);
}

Result<Imported> ImportLines(History& history, TextRows& rows, const std::atomic<bool>* cancel) {
  Batch batch(history);
  std::string_view line;
  for (;;) {
    const auto found = rows.NextLine(line);
    if (!found) return EndAt(batch, rows, found.error());
    if (!*found) break;
    if (IsSet(cancel)) return Interrupted();
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    if (const auto added = batch.AddLine(line); !added) return EndAt(batch, rows, added.error());
  }
  if (auto added = batch.Flush(); !added) return At(added.error(), rows);
  return batch.imported();
}

// Counts the occurrences of each row of the view in the history.
Result<std::map<std::string, int64_t>> CountRows(History& history, const std::atomic<bool>* cancel) {
  std::map<std::string, int64_t> counts;
  GAPLESS_TRY(history.Visit({.with_samples = false}, [&](const BenchmarkRecord& record) -> Result<void> {
    if (IsSet(cancel)) return Interrupted();
    ++counts[RowDigestOf(record)];
    return {};
  }));
  return counts;
}

// Imports rows of the view; the columns, which the first row names, may stand in any order.
Result<Imported> ImportCsv(History& history, TextRows& rows, const std::vector<std::string>& names,
                           const std::atomic<bool>* cancel) {
  GAPLESS_ASSIGN(auto there, CountRows(history, cancel));
  std::map<std::string, int64_t> seen;
  std::vector<std::string> row;
  Batch batch(history);
  for (;;) {
    const auto found = rows.NextCsvRow(row);
    if (!found) return EndAt(batch, rows, found.error());
    if (!*found) break;
    if (IsSet(cancel)) return Interrupted();
    if (row.size() == 1 && row[0].empty()) continue;
    auto record = RecordFromRow(names, row);
    if (!record) return EndAt(batch, rows, record.error());
    const std::string digest = RowDigestOf(*record);
    const int64_t time = ++seen[digest];
    record->uid = StrCat("csv-", digest, "-", time);
    if (time <= there[digest])
      batch.SkipOne();
    else if (auto added = batch.Add(std::move(*record), 0); !added)
      return At(added.error(), rows);
  }
  if (auto added = batch.Flush(); !added) return At(added.error(), rows);
  // The rows before the one that breaks off are stored.
  if (rows.cut()) return At(Error{ErrorCode::kInput, "the last row is cut off", "", ""}, rows);
  return batch.imported();
}

}  // namespace

Result<Imported> ImportFrom(History& history, TextSource source, std::string_view path,
                            const std::atomic<bool>* cancel) {
  TextRows rows(std::move(source), path);
  GAPLESS_ASSIGN(const auto first, rows.Begin());
  if (!first.has_value()) return Imported();
  if (*first == '{') return ImportLines(history, rows, cancel);
  const Unexpected no_history =
      Fail(ErrorCode::kInput, "this is no exported history", std::string(path),
           "JSON lines of `gapless history export`, or CSV with the columns of the view benchmarks");
  // Looked for before the first row is, which may have no end.
  constexpr std::string_view kNeeded = "timestamp";
  if (rows.held().find(kNeeded) == std::string_view::npos) return no_history;
  std::vector<std::string> names;
  GAPLESS_TRY(rows.NextCsvRow(names));
  if (std::ranges::find(names, kNeeded) == names.end()) return no_history;
  return ImportCsv(history, rows, names, cancel);
}

Result<Imported> ImportInto(History& history, std::string_view text, std::string_view path) {
  const auto source = [text](char* out, size_t size) mutable -> Result<size_t> {
    const size_t taken = text.copy(out, size);
    text.remove_prefix(taken);
    return taken;
  };
  return ImportFrom(history, source, path, nullptr);
}

}  // namespace gapless::internal
