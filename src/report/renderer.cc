// SPDX-License-Identifier: Apache-2.0
// Looks up renderers by name and by the extension of a file.
#include "report/renderer.h"

#include <algorithm>

namespace gapless::internal {

const Renderer* FindRenderer(std::string_view name) {
  const auto all = AllRenderers();
  const auto found = std::ranges::find(all, name, [](const Renderer* renderer) { return renderer->name; });
  return found == all.end() ? nullptr : *found;
}

const Renderer* RendererFor(std::string_view path) {
  for (const Renderer* renderer : AllRenderers())
    if (path.ends_with(renderer->extension)) return renderer;
  return nullptr;
}

}  // namespace gapless::internal
