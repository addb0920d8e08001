// SPDX-License-Identifier: Apache-2.0
// Implements the tested predictions of a history: what a what-if promised, and what was then measured.
//
// Reading must not change anything, because every report reads: ReadAdvice() therefore neither makes a file nor
// migrates tables, and a history without the table is an empty one. Writing goes through InTransaction() like every
// record.
#include <cmath>
#include <utility>

#include "base/strings.h"
#include "base/timestamp.h"
#include "store/history.h"
#include "store/rows.h"
#include "store/transaction.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kAdviceColumns =
    "uid, recorded_at_ns, what, kind, recording, measured, low, expected, high, source";

// Returns the record in the form that is stored: texts cleaned, uid and time filled in. Shares that are not finite and
// above 0 are refused, because a calibration takes their logarithm.
Result<AdviceRecord> Prepared(AdviceRecord advice) {
  for (const double share : {advice.measured, advice.low, advice.expected, advice.high})
    if (!std::isfinite(share) || share <= 0)
      return Fail(ErrorCode::kInput, "a tested prediction needs shares of a step above 0", Printable(advice.what));
  const std::pair<std::string*, std::string_view> texts[] = {{&advice.what, "what-if"},
                                                             {&advice.kind, "kind of a what-if"},
                                                             {&advice.recording, "path of a recording"},
                                                             {&advice.source, "source of a prediction"}};
  for (const auto& [text, what] : texts) GAPLESS_TRY(CleanText(*text, what, kLongestName));
  if (advice.what.empty() || advice.kind.empty())
    return Fail(ErrorCode::kInput, "a tested prediction needs to say what it was of");
  if (advice.uid.empty()) advice.uid = NewUid();
  if (advice.recorded_unix_ns == 0) advice.recorded_unix_ns = UnixTimeNs();
  return advice;
}

Result<std::vector<AdviceRecord>> AllOf(Connection& connection) {
  GAPLESS_ASSIGN(const auto rows,
                 connection.Run(StrCat("SELECT ", kAdviceColumns, " FROM advice ORDER BY recorded_at_ns, id"), {}));
  std::vector<AdviceRecord> all;
  for (const DbRow& row : rows)
    all.push_back({.uid = row.Text(0),
                   .recorded_unix_ns = row.Int(1).value_or(0),
                   .what = row.Text(2),
                   .kind = row.Text(3),
                   .recording = row.Text(4),
                   .measured = row.Real(5).value_or(1),
                   .low = row.Real(6).value_or(1),
                   .expected = row.Real(7).value_or(1),
                   .high = row.Real(8).value_or(1),
                   .source = row.Text(9)});
  return all;
}

}  // namespace

Result<bool> History::RecordAdvice(const AdviceRecord& advice) {
  GAPLESS_ASSIGN(const auto prepared, Prepared(advice));
  const AdviceRecord& record = prepared;
  const SqlCell cells[] = {
      record.uid, record.recorded_unix_ns, record.what, record.kind,  record.recording, record.measured,
      record.low, record.expected,         record.high, record.source};
  return InTransaction<bool>(*connection_, [&]() -> Result<bool> {
    GAPLESS_ASSIGN(const auto added, connection_->Run(StrCat("INSERT INTO advice (", kAdviceColumns,
                                                             ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) "
                                                             "ON CONFLICT (uid) DO NOTHING RETURNING id"),
                                                      cells));
    return !added.empty();
  });
}

Result<std::vector<AdviceRecord>> History::ListAdvice() {
  if (is_absent()) return std::vector<AdviceRecord>();
  if (connection_->lost()) GAPLESS_TRY(connection_->Reconnect());
  return AllOf(*connection_);
}

Result<std::vector<AdviceRecord>> History::ReadAdvice(std::string_view url) {
  const std::string chosen = url.empty() ? DefaultUrl() : std::string(url);
  if (chosen.empty()) return std::vector<AdviceRecord>();
  GAPLESS_ASSIGN(const auto connection, Connect(chosen, Access::kRead));
  if (connection == nullptr) return std::vector<AdviceRecord>();
  const SqlCell table[] = {std::string("advice")};
  GAPLESS_ASSIGN(const auto there, connection->Run(std::string(connection->dialect().table_exists), table));
  return there.empty() ? std::vector<AdviceRecord>() : AllOf(*connection);
}

}  // namespace gapless::internal
