// SPDX-License-Identifier: Apache-2.0
// Checks the form of --step-function: a file or module, a colon, a function. That the function exists is seen only in
// the program, by the agent.
#include "cli/step_function.h"

#include <algorithm>

#include "base/strings.h"

namespace gapless::internal {
namespace {

// Returns true for a dotted name of Python; bytes above ASCII are allowed, as Python's identifiers may have them.
bool IsName(std::string_view text) {
  const auto is_letter = [](char c) {
    return static_cast<unsigned char>(c) >= 0x80 || c == '_' || c == '.' || (c >= '0' && c <= '9') ||
           (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  return !text.empty() && text.front() != '.' && text.back() != '.' && std::ranges::all_of(text, is_letter);
}

}  // namespace

Result<std::string> ReadStepFunction(const OptionSpec&, std::string_view given) {
  const size_t colon = given.rfind(':');
  const bool is_whole = colon != given.npos && IsName(given.substr(colon + 1)) &&
                        (given.substr(0, colon).ends_with(".py") || IsName(given.substr(0, colon)));
  if (!is_whole)
    return Fail(ErrorCode::kUsage, StrCat("--step-function does not name a function: ", given), "",
                "give the file or the module, a colon, and the function: --step-function train.py:train_step");
  return std::string(given);
}

}  // namespace gapless::internal
