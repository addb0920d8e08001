// SPDX-License-Identifier: Apache-2.0
// Records of the history as JSON lines, which hold everything.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "store/history.h"

namespace gapless::internal {

// One record as one line of JSON, without the line end. Ids are left out: they belong to one database.
std::string LineOf(const BenchmarkRecord& record);
Result<BenchmarkRecord> RecordFromLine(std::string_view line);
// The same for a tested prediction.
std::string LineOf(const AdviceRecord& advice);
Result<AdviceRecord> AdviceFromLine(std::string_view line);

// Reads a line of either kind. Returns an error if the line is of no kind, or of a newer gapless.
Result<std::variant<BenchmarkRecord, AdviceRecord>> AnyFromLine(std::string_view line);

}  // namespace gapless::internal
