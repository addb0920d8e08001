// SPDX-License-Identifier: Apache-2.0
// Finds the objects of a JSON text one by one, so that a text that was cut off, or has a bad line, gives the others.
#pragma once

#include <string_view>

namespace gapless::internal {

// The objects of a text, in their order: those that stand side by side (JSON lines, an array), not those inside
// others. What stands between them is passed over.
class JsonObjects {
 public:
  explicit JsonObjects(std::string_view text) : text_(text) {}
  // The next complete object; "" at the end. What follows is then what is left: the beginning of a last object that
  // was cut off, or nothing.
  std::string_view Next();
  bool is_cut() const { return cut_; }

 private:
  std::string_view text_;
  bool cut_ = false;
};

}  // namespace gapless::internal
