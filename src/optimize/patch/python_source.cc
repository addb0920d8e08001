// SPDX-License-Identifier: Apache-2.0
#include "optimize/patch/python_source.h"

#include <algorithm>

namespace gapless::internal {

std::string_view PythonSource::IndentOf(const LogicalLine& line) const {
  return text().substr(line.begin, line.code_begin - line.begin);
}

int PythonSource::LineOf(size_t offset) const {
  return static_cast<int>(std::ranges::upper_bound(starts_, offset) - starts_.begin());
}

size_t PythonSource::IndexAt(int line) const {
  const auto found = std::ranges::find_if(lines_, [&](const LogicalLine& one) { return one.last >= line; });
  if (found == lines_.end() || found->first > line) return lines_.size();
  return static_cast<size_t>(found - lines_.begin());
}

bool PythonSource::IsClause(size_t index) const {
  const LogicalLine& line = lines_[index];
  if (!line.opens_block && !line.shared) return false;
  constexpr std::string_view kClauses[] = {"else", "elif", "except", "finally", "case"};
  return std::ranges::find(kClauses, line.keyword) != std::end(kClauses);
}

size_t PythonSource::FirstOf(size_t index) const {
  while (index > 0 && lines_[index - 1].indent == lines_[index].indent && text()[lines_[index - 1].code_begin] == '@')
    --index;
  return index;
}

size_t PythonSource::PastBlock(size_t index) const {
  size_t past = index + 1;
  if (!lines_[index].opens_block) return past;
  while (past < lines_.size() && lines_[past].indent > lines_[index].indent) ++past;
  return past;
}

size_t PythonSource::PastOf(size_t index) const {
  while (index + 1 < lines_.size() && text()[lines_[index].code_begin] == '@') ++index;
  size_t past = PastBlock(index);
  while (past < lines_.size() && lines_[past].indent == lines_[index].indent && IsClause(past)) past = PastBlock(past);
  return past;
}

}  // namespace gapless::internal
