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

#include "base/csv.h"
#include "base/strings.h"
#include "store/benchmarks_csv.h"
#include "store/record_lines.h"

namespace gapless::internal {
namespace {

constexpr size_t kRecordsAtOnce = 500;

// Adds the place to an error that has none.
Unexpected At(Error error, std::string_view path, int64_t line) {
  if (error.place.empty()) error.place = StrCat(path, ":line ", line);
  return {std::move(error)};
}

// Collects records and stores some hundred in one transaction. Tested predictions are stored one by one.
class Batch {
 public:
  explicit Batch(History& history) : history_(history) {}
  Result<void> Add(BenchmarkRecord record) {
    records_.push_back(std::move(record));
    return records_.size() < kRecordsAtOnce ? Result<void>() : Flush();
  }
  Result<void> Flush() {
    if (records_.empty()) return {};
    const auto recorded = history_.RecordAll(records_);
    records_.clear();
    if (!recorded) return Unexpected{recorded.error()};
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
  Imported imported_;
};

// Stores a line of either kind. A record without a uid is refused: importing it twice would add it twice.
Result<void> Batch::AddLine(std::string_view line) {
  auto any = AnyFromLine(line);
  if (!any) return Unexpected{any.error()};
  if (std::visit([](const auto& record) { return record.uid.empty(); }, *any))
    return Fail(ErrorCode::kInput, "the record has no uid");
  if (auto* const record = std::get_if<BenchmarkRecord>(&*any)) return Add(std::move(*record));
  const auto added = history_.RecordAdvice(std::get<AdviceRecord>(*any));
  if (!added) return Unexpected{added.error()};
  ++(*added ? imported_.advice : imported_.present);
  return {};
}

Result<Imported> ImportLines(History& history, std::string_view text, std::string_view path) {
  Batch batch(history);
  int64_t number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    // Flushes what came before, as the contract of the header says, before it reports the line.
    if (auto added = batch.AddLine(line); !added) {
      GAPLESS_TRY(batch.Flush());
      return At(added.error(), path, number);
    }
  }
  if (auto added = batch.Flush(); !added) return At(added.error(), path, number);
  return batch.imported();
}

// Counts the occurrences of each row of the view in the history.
Result<std::map<std::string, int64_t>> CountRows(History& history) {
  std::map<std::string, int64_t> counts;
  GAPLESS_TRY(history.Visit({.with_samples = false}, [&](const BenchmarkRecord& record) -> Result<void> {
    ++counts[RowDigestOf(record)];
    return {};
  }));
  return counts;
}

// Imports rows of the view; the columns may stand in any order.
Result<Imported> ImportCsv(History& history, std::string_view text, std::string_view path) {
  CsvReader csv(text);
  std::vector<std::string> names, row;
  csv.Next(names);
  auto there = CountRows(history);
  if (!there) return Unexpected{there.error()};
  std::map<std::string, int64_t> seen;
  Batch batch(history);
  int64_t number = 1;
  while (csv.Next(row)) {
    ++number;
    if (row.size() == 1 && row[0].empty()) continue;
    auto record = RecordFromRow(names, row);
    if (!record) {
      GAPLESS_TRY(batch.Flush());
      return At(record.error(), path, number);
    }
    const std::string digest = RowDigestOf(*record);
    const int64_t time = ++seen[digest];
    record->uid = StrCat("csv-", digest, "-", time);
    if (time <= (*there)[digest])
      batch.SkipOne();
    else if (auto added = batch.Add(std::move(*record)); !added)
      return At(added.error(), path, number);
  }
  if (auto added = batch.Flush(); !added) return At(added.error(), path, number);
  // The rows before the one that breaks off are stored.
  if (csv.cut()) return Fail(ErrorCode::kInput, "the last row is cut off", StrCat(path, ":line ", number + 1));
  return batch.imported();
}

}  // namespace

Result<Imported> ImportInto(History& history, std::string_view text, std::string_view path) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return Imported();
  if (text[first] == '{') return ImportLines(history, text, path);
  std::vector<std::string> names;
  CsvReader csv(text);
  csv.Next(names);
  if (std::ranges::find(names, "timestamp") == names.end())
    return Fail(ErrorCode::kInput, "this is no exported history", std::string(path),
                "JSON lines of `gapless history export`, or CSV with the columns of the view benchmarks");
  return ImportCsv(history, text, path);
}

}  // namespace gapless::internal
