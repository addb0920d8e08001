// SPDX-License-Identifier: Apache-2.0
// Inserts many rows of one table with few statements, because each statement is a round trip to a server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "store/backend.h"

namespace gapless::internal {

// An Inserter collects rows and inserts many at a time. The last rows are inserted by Flush().
class Inserter {
 public:
  Inserter(Connection& connection, std::string_view into, size_t columns)
      : connection_(connection), into_(into), columns_(columns) {}

  Result<void> Add(std::vector<SqlCell> row) {
    for (SqlCell& cell : row) {
      if (const auto* bytes = std::get_if<Bytes>(&cell)) size_ += bytes->content.size();
      cells_.push_back(std::move(cell));
    }
    return cells_.size() >= kRowsAtOnce * columns_ || size_ > kBytesAtOnce ? Flush() : Result<void>();
  }

  Result<void> Flush() {
    if (cells_.empty()) return {};
    std::string sql = StrCat("INSERT INTO ", into_, " VALUES ");
    for (size_t i = 0; i < cells_.size(); ++i) {
      const bool first = i % columns_ == 0;
      sql += StrCat(first ? (i == 0 ? "($" : "), ($") : ", $", i + 1);
    }
    const auto done = connection_.Run(sql + ")", cells_);
    cells_.clear();
    size_ = 0;
    return done ? Result<void>() : Unexpected{done.error()};
  }

 private:
  static constexpr size_t kRowsAtOnce = 1000;  // databases limit the number of parameters of a statement
  static constexpr size_t kBytesAtOnce = size_t{16} << 20;

  Connection& connection_;
  std::string_view into_;
  size_t columns_;
  std::vector<SqlCell> cells_;
  size_t size_ = 0;  // total size of the texts in bytes
};

}  // namespace gapless::internal
