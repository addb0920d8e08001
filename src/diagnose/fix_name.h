// SPDX-License-Identifier: Apache-2.0
// The name of a fix, by which rules recommend it. There is a constant for each file of src/predict/fixes, so that a
// misspelled name does not compile: `fixes::kWorkers.Item("4")`. CMake generates them into fixes/names.h.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace gapless::internal {

struct FixName {
  std::string_view name;

  // A recommendation's fix: "workers", "workers=4".
  std::string Item() const { return std::string(name); }
  std::string Item(std::string_view value) const { return std::string(name).append("=").append(value); }
  std::string Item(std::integral auto value) const { return Item(std::to_string(value)); }
};

}  // namespace gapless::internal
