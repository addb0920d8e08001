// SPDX-License-Identifier: Apache-2.0
// Implements lines, blocks and statements of a scanned Python file.
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

// Linear in the logical lines.
size_t PythonSource::IndexAt(int line) const {
  const auto found =
      std::ranges::find_if(lines_, [&](const LogicalLine& logical_line) { return logical_line.last >= line; });
  if (found == lines_.end() || found->first > line) return lines_.size();
  return static_cast<size_t>(found - lines_.begin());
}

// "case" and "else" are clauses only if they open a block: `case` may be a variable.
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

Result<PythonSource::Statements> PythonSource::StatementsAt(int line, int last) const {
  const auto misfit = [](std::string why) { return Fail(ErrorCode::kInput, std::move(why)); };
  const size_t at = IndexAt(line);
  if (at >= lines_.size()) return misfit(StrCat("line ", line, " holds no statement"));
  size_t past = at;
  while (past < lines_.size() && lines_[past].first <= last) {
    if (lines_[past].shared) return misfit(StrCat("line ", lines_[past].first, " holds several statements"));
    if (lines_[past].indent != lines_[at].indent || IsClause(past))
      return misfit(StrCat("line ", lines_[past].first, " begins no statement of its own"));
    past = PastOf(past);
  }
  const size_t first = FirstOf(at);
  if (past == at || lines_[past - 1].last != last) return misfit(StrCat("no statement ends at line ", last));
  return Statements{first, past};
}

}  // namespace gapless::internal
