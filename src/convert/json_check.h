// SPDX-License-Identifier: Apache-2.0
// A JsonCheck separates valid JSON from text that only looks like it. Recorders put JSON texts into arguments; some of
// them are invalid (NaN, cut off). Only valid ones may go into a document as they are. For one thread.
#pragma once

#include <memory>
#include <string_view>

namespace gapless::internal {

class JsonCheck {
 public:
  JsonCheck();
  ~JsonCheck();
  // Returns true if `text` is one JSON value, strictly (RFC 8259, UTF-8).
  bool IsValue(std::string_view text);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gapless::internal
