// SPDX-License-Identifier: Apache-2.0
// Rows of a text that is read piece by piece: lines, or rows of CSV. Memory does not grow with the text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

// Writes the next bytes of a text, at most `size`, to `out` and returns their number; 0 at the end.
using TextSource = std::function<Result<size_t>(char* out, size_t size)>;

// Maximum length of a row in bytes.
inline constexpr size_t kLongestRow = size_t{128} << 20;

// A TextRows gives the rows of a text in order. Views are valid until the next call.
class TextRows {
 public:
  // `path` is for messages.
  TextRows(TextSource source, std::string_view path) : source_(std::move(source)), path_(path) {}

  // Skips a byte order mark and blank lines. Returns the first character of the text; nullopt if there is none.
  Result<std::optional<char>> Begin();
  // Returns the text that was read and not returned: a megabyte or more after Begin(), unless the text is shorter.
  std::string_view held() const { return rest(); }
  // Returns true and the next line without its end, or false at the end of the text.
  Result<bool> NextLine(std::string_view& line);
  // Returns true and the fields of the next row of CSV, or false at the end of the text.
  Result<bool> NextCsvRow(std::vector<std::string>& fields);
  // Returns true if the text ended within the quotes of a row of CSV; that row was not returned.
  bool cut() const { return is_cut_; }
  // Returns "FILE:line N" for the row that was returned last. A row of CSV counts as one line.
  std::string place() const;

 private:
  std::string_view rest() const { return std::string_view(buffer_).substr(begin_); }
  // Reads on, at least doubling what is held. An error: a row is longer than kLongestRow.
  Result<void> ReadMore();

  TextSource source_;
  std::string path_, buffer_{};
  size_t begin_ = 0;  // start of the text in buffer_ that was not returned
  int64_t number_ = 0;
  bool has_ended_ = false, is_cut_ = false;
};

}  // namespace gapless::internal
