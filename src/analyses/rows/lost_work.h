// SPDX-License-Identifier: Apache-2.0
// Table lost_work, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct LostWorkRows : TypedRows<LostWorkRows> {
  static constexpr std::string_view kName = "lost_work";
  static constexpr std::string_view kHelp = "Work of the devices that was launched and is not in the recording";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"gpu_ops", kInt, "", "GPU operations with a time in the recording"},
      {"without_time", kInt, "", "GPU operations that the recording lists without a time that can be"},
      {"launches", kInt, "", "launches of kernels and graphs in the analysed steps, or without steps in the window"},
      {"lost", kInt, "", "of them, those without a GPU operation"},
      {"lost_share", kReal, "share",
       "lost of launches; where no launch is recorded, without_time of all GPU operations. NULL without either"},
  };
};

}  // namespace gapless::internal
