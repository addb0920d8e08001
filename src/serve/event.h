// SPDX-License-Identifier: Apache-2.0
// All that is known of one event, and the events that belong to it.
#pragma once

#include <string_view>

#include "base/result.h"
#include "lanes/run_lanes.h"
#include "serve/documents.h"

namespace gapless::internal {

// `kind`: "gpu_op" or "slice"; `id`: in the table of that name. An error: there is no such event.
Result<ServedEvent> EventOf(const RunLanes& lanes, std::string_view kind, int64_t id);

}  // namespace gapless::internal
