// SPDX-License-Identifier: Apache-2.0
// Compares the targets of statements by the part of the name that means the same wherever it comes from.
#include "optimize/patch/same_setting.h"

#include <algorithm>

#include "optimize/patch/python_source.h"

namespace gapless::internal {
namespace {

// Returns the target of a statement: "torch.set_num_threads" of a call, "torch.backends.cudnn.benchmark" of an
// assignment; empty for any other statement. Sets `sign` to '(' or '='.
std::string_view Target(std::string_view code, char& sign) {
  const size_t end = code.find_first_of("(=,:;#'\"");
  if (end == std::string_view::npos || (code[end] != '(' && code[end] != '=') || code.substr(end).starts_with("=="))
    return {};
  sign = code[end];
  std::string_view target = code.substr(0, end);
  while (target.ends_with(' ')) target.remove_suffix(1);
  const bool plain = std::ranges::all_of(target, [](char c) { return IsNameByte(c) || c == '.'; });
  return plain ? target : std::string_view();
}

// A name that is long enough to mean the same wherever it comes from, `set_num_threads`, or the end of one.
std::string_view Telling(std::string_view target, char sign) {
  const size_t last = target.rfind('.');
  if (last == std::string_view::npos) return target;
  if (sign == '(')
    return target.substr(last + 1).find('_') == std::string_view::npos ? target : target.substr(last + 1);
  const size_t before = target.rfind('.', last - (last > 0));
  return before == std::string_view::npos || last == 0 ? target : target.substr(before + 1);
}

}  // namespace

bool SetsTheSame(std::string_view code, std::string_view line) {
  char sign = 0, other = 0;
  const std::string_view a = Target(code, sign), b = Target(line, other);
  return !a.empty() && !b.empty() && sign == other && Telling(a, sign) == Telling(b, other);
}

}  // namespace gapless::internal
