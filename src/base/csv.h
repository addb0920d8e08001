// SPDX-License-Identifier: Apache-2.0
// Comma-separated values (RFC 4180) out of a text, row by row.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal {

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  // The fields of the next row; false at the end. A quoted field may hold commas, line ends and doubled quotes.
  bool Next(std::vector<std::string>& fields);
  // Did the text end inside of quotes? The last row is incomplete then.
  bool cut() const { return cut_; }
  size_t offset() const { return at_; }

 private:
  std::string_view text_;
  size_t at_ = 0;
  bool cut_ = false;
};

}  // namespace gapless::internal
