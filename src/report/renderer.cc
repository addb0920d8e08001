// SPDX-License-Identifier: Apache-2.0
#include "report/renderer.h"

#include <algorithm>

namespace gapless::internal {

const Renderer* FindRenderer(std::string_view name) {
  const auto all = AllRenderers();
  const auto found = std::ranges::find(all, name, [](const Renderer* renderer) { return renderer->name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace gapless::internal
