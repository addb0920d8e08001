// SPDX-License-Identifier: Apache-2.0
// Finds lines, blocks and statements of a parsed Python file.
#include "optimize/patch/python_source.h"

#include <algorithm>

#include "base/strings.h"

namespace gapless::internal {

std::string_view PythonSource::IndentOf(const LogicalLine& line) const {
  return text().substr(line.begin, line.code_begin - line.begin);
}

int PythonSource::LineOf(size_t offset) const {
  return static_cast<int>(std::ranges::upper_bound(starts_, offset) - starts_.begin());
}

size_t PythonSource::IndexAt(int line) const {
  const auto found = std::ranges::lower_bound(lines_, line, {}, &LogicalLine::last);
  if (found == lines_.end() || found->first > line) return lines_.size();
  return static_cast<size_t>(found - lines_.begin());
}

size_t PythonSource::FirstOf(size_t index) const {
  const auto past = std::ranges::upper_bound(lines_, lines_[index].statement.begin(), {}, &LogicalLine::begin);
  return static_cast<size_t>(past - lines_.begin()) - 1;
}

size_t PythonSource::PastOf(size_t index) const {
  const auto past = std::ranges::lower_bound(lines_, lines_[index].statement.end(), {}, &LogicalLine::begin);
  return std::max(index + 1, static_cast<size_t>(past - lines_.begin()));
}

Result<PythonSource::Statements> PythonSource::StatementsAt(int line, int last) const {
  const auto misfit = [](std::string why) { return Fail(ErrorCode::kInput, std::move(why)); };
  const size_t at = IndexAt(line);
  if (at >= lines_.size()) return misfit(StrCat("line ", line, " holds no statement"));
  size_t past = at;
  while (past < lines_.size() && lines_[past].first <= last) {
    if (lines_[past].shared) return misfit(StrCat("line ", lines_[past].first, " holds several statements"));
    if (lines_[past].indent != lines_[at].indent || lines_[past].clause)
      return misfit(StrCat("line ", lines_[past].first, " begins no statement of its own"));
    past = PastOf(past);
  }
  const size_t first = FirstOf(at);
  if (past == at || lines_[past - 1].last != last) return misfit(StrCat("no statement ends at line ", last));
  return Statements{first, past};
}

}  // namespace gapless::internal
