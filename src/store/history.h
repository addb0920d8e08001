// SPDX-License-Identifier: Apache-2.0
// The history of benchmarks: what was measured, of which commit, where and when. In a file of SQLite or in PostgreSQL,
// with the same tables (docs/HISTORY.md).
//
// Any number of processes may write at once. What was recorded is not changed any more; verdicts are added to it. One
// History is used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/backend.h"
#include "store/record.h"

namespace gapless::internal {

// A filter of records: every condition holds for those that are returned.
struct HistoryFilter {
  std::optional<std::string> branch = {}, benchmark = {}, commit_sha = {};
  std::optional<int64_t> since_unix_ns = {}, until_unix_ns = {};  // both included
  std::optional<int64_t> limit = {};                              // the maximum number of records, the newest first
  bool with_samples = true;

  bool operator==(const HistoryFilter&) const = default;
};

// A prediction of what a fix buys that was tested. Shares of the step before: 0.5 is twice as fast.
struct AdviceRecord {
  std::string uid = {};                                  // the same prediction tested again has another; empty: made
  int64_t recorded_unix_ns = 0;                          // 0: now
  std::string what = {}, kind = {};                      // as `predict --what` takes it; its names without values
  std::string recording = {};                            // where it was predicted from
  double measured = 1, low = 1, expected = 1, high = 1;  // measured, and as the model predicted
  std::string source = {};                               // "predict --measured", "optimize" …

  bool operator==(const AdviceRecord&) const = default;
};

// The outcome of recording: the number in this database, and if it is new there.
struct Recorded {
  int64_t id = 0;
  bool added = true;  // false: a record of this uid was there, and stays as it was
};

// A connection to a history. Every call is a transaction of its own.
class History {
 public:
  // `url`: "sqlite:FILE", "postgresql://USER@HOST/DATABASE", or a file; empty: DefaultUrl(). The file is made when it
  // is not there, and the tables in it; those of an older version are brought up to date.
  static Result<History> Open(std::string_view url = {});
  // The same to change what is there: a history that does not exist is an error of the input.
  static Result<History> OpenToChange(std::string_view url = {});
  // The same to read: nothing is created, and the history may be one that this user cannot write. A default history
  // that does not exist is empty. Another one is an error of the input, or with `kEmpty` empty too.
  enum class IfAbsent : uint8_t { kError, kEmpty };
  static Result<History> OpenToRead(std::string_view url = {}, IfAbsent if_absent = IfAbsent::kError);
  // "sqlite:" and $XDG_DATA_HOME/gapless/history.db, or ~/.local/share/gapless/history.db; empty: there is no home.
  static std::string DefaultUrl();

  // Returns when the records are on the disk: all of them or, on an error, none. When the server is lost meanwhile it
  // is asked again for some seconds; the uid keeps a record from being there twice. Refused as input: what is not
  // finite, a metric given twice, names above kLongestName bytes, texts above kLongestText. What is no UTF-8 becomes
  // U+FFFD.
  Result<Recorded> Record(const BenchmarkRecord& record);
  Result<std::vector<Recorded>> RecordAll(std::span<const BenchmarkRecord> records);
  // Adds to a record of this id; nothing happens when the same verdict is there.
  Result<void> AddVerdict(int64_t id, const VerdictRecord& verdict);

  // In the order of recording: by time, those of the same time by id. Visit() holds some hundred records at a time and
  // sees one state of the database from its first to its last; an error of the visitor ends it.
  Result<std::vector<BenchmarkRecord>> List(const HistoryFilter& filter);
  Result<void> Visit(const HistoryFilter& filter, const std::function<Result<void>(const BenchmarkRecord&)>& visitor);

  // Tested predictions, in the order of recording. Refused as input: shares that are not finite and above 0. False: one
  // of this uid was there, and stays as it was.
  Result<bool> RecordAdvice(const AdviceRecord& advice);
  Result<std::vector<AdviceRecord>> ListAdvice();
  // The same of a history that is only looked at: it is neither made nor brought up to date, so that a report changes
  // nothing. Empty where there is no history, or one from before there was advice.
  static Result<std::vector<AdviceRecord>> ReadAdvice(std::string_view url);

  // The URL it was opened with, without its password.
  const std::string& place() const { return place_; }
  // Returns true if it was opened to read and does not exist.
  bool is_absent() const { return connection_ == nullptr; }

 private:
  History(std::unique_ptr<Connection> connection, std::string place)
      : connection_(std::move(connection)), place_(std::move(place)) {}
  static Result<std::unique_ptr<Connection>> Connect(const std::string& url, Access access);
  static Result<History> OpenFor(std::string_view url, Access access);

  std::unique_ptr<Connection> connection_;  // null: is_absent()
  std::string place_;
};

// Returns a name that no other record has: 128 random bits as hexadecimal digits.
std::string NewUid();
// Returns the same 128 bits for the same texts in the same order, as hexadecimal digits. Not a protection against
// somebody who makes texts of equal digests.
std::string DigestOf(std::span<const std::string> texts);

}  // namespace gapless::internal
