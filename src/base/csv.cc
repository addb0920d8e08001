// SPDX-License-Identifier: Apache-2.0
// Splits CSV row by row. A quote opens a quoted field only at its start; text behind the closing quote belongs to
// the field. A last row that ends within quotes is dropped and cut() says so. Linear in the text.
#include "base/csv.h"

#include <algorithm>

namespace gapless::internal {

bool CsvReader::Next(std::vector<std::string>& fields) {
  fields.clear();
  if (at_ >= text_.size()) return false;
  for (;;) {
    std::string field;
    if (at_ < text_.size() && text_[at_] == '"') {
      ++at_;
      for (;; ++at_) {
        if (at_ >= text_.size()) return cut_ = true, false;
        if (text_[at_] != '"')
          field += text_[at_];
        else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"')
          field += text_[at_++];
        else
          break;
      }
      ++at_;
    }
    const size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
    field += text_.substr(at_, end - at_);
    if (!field.empty() && field.back() == '\r') field.pop_back();
    fields.push_back(std::move(field));
    at_ = std::min(end + 1, text_.size());
    if (end == text_.size() || text_[end] == '\n') return true;
  }
}

}  // namespace gapless::internal
