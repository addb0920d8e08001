// SPDX-License-Identifier: Apache-2.0
#include "optimize/fixes/common/values.h"

#include <algorithm>

namespace gapless::internal {

FixValues AtMost(size_t most, const std::vector<size_t>& wanted) {
  FixValues found;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] > most || (wanted[i] == 0 && i > 0)) continue;
    const std::string value = std::to_string(wanted[i]);
    if (std::ranges::find(found.values, value) == found.values.end()) found.values.push_back(value);
  }
  return found;
}

}  // namespace gapless::internal
