// SPDX-License-Identifier: Apache-2.0
// Looks up writers by name; the list itself is generated from the directory.
#include "convert/writer.h"

#include <algorithm>

namespace gapless::internal {

const Writer* FindWriter(std::string_view name) {
  const auto all = AllWriters();
  const auto found = std::ranges::find(all, name, [](const Writer* writer) { return writer->name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace gapless::internal
