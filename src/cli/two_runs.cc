// SPDX-License-Identifier: Apache-2.0
// Finds records of the history by their number.
#include "cli/two_runs.h"

#include <charconv>
#include <filesystem>

#include "base/strings.h"
#include "store/history.h"

namespace gapless::internal {

std::optional<int64_t> RecordNumber(const std::string& word) {
  int64_t id = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), id);
  std::error_code ignored;
  if (code != std::errc() || end != word.data() + word.size() || std::filesystem::exists(word, ignored))
    return std::nullopt;
  return id;
}

Result<StepLedger> LedgerOfRecord(const TwoRunsArguments& arguments, int64_t id) {
  GAPLESS_ASSIGN(auto history, History::OpenToRead(arguments.db));
  std::optional<BenchmarkRecord> found;
  GAPLESS_TRY(history.Visit({.with_samples = false}, [&](const BenchmarkRecord& record) -> Result<void> {
    if (record.id == id) found = record;
    return {};
  }));
  if (!found)
    return Fail(ErrorCode::kInput, StrCat("the history has no record ", id), Printable(history.place()),
                "gapless history list shows those that there are");
  if (found->ledger.empty())
    return Fail(ErrorCode::kInput,
                StrCat("record ", id, " keeps no ledger: it was made without a recording, or by an older gapless"),
                Printable(history.place()), "gapless history record RECORDING keeps one");
  return ReadStoredLedger(found->ledger);
}

}  // namespace gapless::internal
