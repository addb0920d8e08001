// SPDX-License-Identifier: Apache-2.0
// The parts shared by the verbs that hold two runs against each other: `why` and `diff`.
#pragma once

#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/loading.h"
#include "cli/output.h"
#include "diagnose/step_ledger.h"
#include "report/lab/lab.h"

namespace gapless::internal {

struct TwoRunsArguments : ReadArguments {};

inline constexpr auto kTwoRunsWord =
    Word<&ReadArguments::paths>("RUN", "A and B: recordings, folders of them, or numbers of records of the history")
        .Times(2, 2)
        .Path();
inline constexpr auto kRecordsOption =
    Text<&ReadArguments::db>("URL", "Take records from the history at URL: sqlite:FILE or postgresql://…");

// The number of a record, if the word is one and no file is called so.
std::optional<int64_t> RecordNumber(const std::string& word);
// The ledger that a record of the history keeps. An error: there is no such record, or it keeps none.
Result<StepLedger> LedgerOfRecord(const TwoRunsArguments& arguments, int64_t id);

}  // namespace gapless::internal
