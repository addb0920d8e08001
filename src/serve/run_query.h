// SPDX-License-Identifier: Apache-2.0
// SQL that somebody types into the page: read-only as ever (query/database.h), with bounds on rows, time and memory.
#pragma once

#include <atomic>
#include <chrono>
#include <string_view>

#include "base/result.h"
#include "serve/documents.h"

namespace gapless::internal {

class Run;
class Tables;

struct QueryLimits {
  size_t rows = 10'000;
  size_t bytes = size_t{16} << 20;  // bytes of texts in the result
  std::chrono::milliseconds time{10'000};
};

// Bytes that SQLite may take in this process, for all queries that run at once.
inline constexpr int64_t kQueryMemoryBytes = int64_t{256} << 20;

// An error says what is wrong with the statement, that its time was up or that it needs too much memory. `stop`: ends
// the query when it becomes true; it outlives the call.
Result<QueryAnswer> AnswerQuery(const Run& run, Tables& tables, std::string_view sql, const QueryLimits& limits,
                                const std::atomic<bool>& stop);

}  // namespace gapless::internal
