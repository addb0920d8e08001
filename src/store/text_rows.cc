// SPDX-License-Identifier: Apache-2.0
// Reads a text in blocks and cuts it into rows. A row that is not complete in the buffer is looked at again with twice
// as much text, so that the time is linear in the text and the buffer at most four times the longest row.
#include "store/text_rows.h"

#include <algorithm>

#include "base/csv.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr size_t kBlock = size_t{1} << 20;

}  // namespace

std::string TextRows::place() const { return StrCat(path_, ":line ", number_); }

Result<void> TextRows::ReadMore() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const size_t held = buffer_.size();
  if (held > kLongestRow)
    return Fail(ErrorCode::kInput, StrCat("the row is longer than ", FormatBytes(kLongestRow)),
                StrCat(path_, ":line ", number_ + 1), "give JSON lines of `gapless history export`, or CSV");
  const size_t end = held + std::max(held, kBlock);
  buffer_.resize(end);
  size_t filled = held;
  while (filled < end && !has_ended_) {
    GAPLESS_ASSIGN(const auto got, source_(buffer_.data() + filled, end - filled));
    filled += got;
    has_ended_ = got == 0;
  }
  buffer_.resize(filled);
  return {};
}

Result<std::optional<char>> TextRows::Begin() {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  GAPLESS_TRY(ReadMore());
  if (rest().starts_with(kMark)) begin_ += kMark.size();
  for (;;) {
    const size_t first = std::min(rest().find_first_not_of(" \t\r\n"), rest().size());
    number_ += std::ranges::count(rest().substr(0, first), '\n');
    begin_ += first;
    if (!rest().empty()) {
      if (rest().size() < kBlock && !has_ended_) GAPLESS_TRY(ReadMore());
      return std::optional<char>(rest().front());
    }
    if (has_ended_) return std::optional<char>();
    GAPLESS_TRY(ReadMore());
  }
}

Result<bool> TextRows::NextLine(std::string_view& line) {
  size_t end = rest().find('\n');
  while (end == std::string_view::npos && !has_ended_) {
    GAPLESS_TRY(ReadMore());
    end = rest().find('\n');
  }
  if (rest().empty()) return false;
  line = rest().substr(0, end);
  begin_ += std::min(line.size() + 1, rest().size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++number_;
  return true;
}

Result<bool> TextRows::NextCsvRow(std::vector<std::string>& fields) {
  for (;;) {
    CsvReader csv(rest());
    const bool found = csv.Next(fields);
    // A row that ends with the buffer may go on behind it.
    if (found && (has_ended_ || csv.offset() < rest().size())) {
      begin_ += csv.offset();
      ++number_;
      return true;
    }
    if (has_ended_) {
      is_cut_ = csv.cut();
      if (is_cut_) ++number_;
      return false;
    }
    GAPLESS_TRY(ReadMore());
  }
}

}  // namespace gapless::internal
