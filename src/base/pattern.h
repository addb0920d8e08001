// SPDX-License-Identifier: Apache-2.0
// A regular expression that somebody typed, for text that anybody wrote. RE2 stays behind this header: its time is that
// of the text, whatever the expression and the text are, and its memory has a bound. In exchange it knows neither
// look-around nor back references.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace gapless::internal {

class Pattern {
 public:
  enum class Anchors { kText, kLine };  // where ^ and $ hold

  // An error of the usage says what is wrong with the expression, and `place`: the option that it came from.
  static Result<Pattern> Make(std::string_view expression, std::string_view place, Anchors anchors = Anchors::kText);
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  // Returns true if the expression matches somewhere in the text. Safe from several threads. A byte that is no
  // UTF-8 matches no character.
  bool IsIn(std::string_view text) const;
  // Calls `take` for each match, in order, with its first group, or the whole match if there is no group. An unused
  // group is left out. Matches do not overlap.
  void ForEach(std::string_view text, const std::function<void(std::string_view)>& take) const;

 private:
  explicit Pattern(std::unique_ptr<re2::RE2> expression);
  std::unique_ptr<re2::RE2> expression_;
};

}  // namespace gapless::internal
