// SPDX-License-Identifier: Apache-2.0
// A CsvReader reads comma-separated values (RFC 4180) out of a text, row by row. It refers to the text, which must
// outlive it.
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
  // Returns true if the text ended inside of quotes: the last row is incomplete then, and was not returned.
  bool cut() const { return cut_; }
  size_t offset() const { return at_; }

 private:
  std::string_view text_;
  size_t at_ = 0;
  bool cut_ = false;
};

}  // namespace gapless::internal
