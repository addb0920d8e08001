// SPDX-License-Identifier: Apache-2.0
// Counts, line by line, what the parser's reader of indentation would look at.
//
// Before each comment that begins a line the reader looks at all lines up to the next code, so a run of comments costs
// its lines times its bytes. The levels of indentation grow inwards, so a text has at most as many as it has widths.
#include "optimize/patch/text_shape.h"

#include <algorithm>
#include <cstdint>
#include <set>

namespace gapless::internal {
namespace {

constexpr size_t kMaxWidths = 250;               // different widths of indentation
constexpr size_t kMaxWidth = 10'000;             // columns
constexpr uint64_t kMaxRun = uint64_t{1} << 29;  // comments times bytes, in all runs together

}  // namespace

Result<void> CheckShape(std::string_view text) {
  std::set<size_t> widths;
  size_t width = 0, run_begin = 0;
  uint64_t comments = 0, cost = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\n') {
      width = c == ' ' ? width + 1 : c == '\t' ? width + 8 : 0;
      ++at;
      continue;
    }
    const size_t line_end = std::min(text.find('\n', at), text.size());
    if (c == '\\' && line_end <= at + 2) {
      ++comments;
      at = line_end + 1;
    } else if (c == '#') {
      ++comments;
      width = 0;
      at = line_end + 1;
    } else {
      cost += comments * (at - run_begin);
      comments = 0;
      widths.insert(width);
      if (widths.size() > kMaxWidths || width > kMaxWidth) return Fail(ErrorCode::kInput, "is indented too deeply");
      width = 0;
      at = run_begin = line_end + 1;
    }
    if (cost + comments * (std::min(at, text.size()) - run_begin) > kMaxRun)
      return Fail(ErrorCode::kInput, "has too many comments or backslashes in a row");
  }
  return {};
}

}  // namespace gapless::internal
