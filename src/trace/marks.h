// SPDX-License-Identifier: Apache-2.0
// Names that frameworks give to what matters to more than one room.
#pragma once

#include <string_view>

namespace gapless::internal {

// Waiting for the next batch: `enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__`, `enumerate(DataPipe)#…`.
inline bool IsDataLoadingMark(std::string_view name) {
  return name.starts_with("enumerate(DataLoader)") || name.starts_with("enumerate(DataPipe)");
}

}  // namespace gapless::internal
