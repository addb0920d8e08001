// SPDX-License-Identifier: Apache-2.0
// Advice for a data loader by what it spends its time on (analysis loader_work), beside the number of its workers.
#pragma once

#include <vector>

#include "analyses/analysis.h"
#include "diagnose/bottleneck.h"

namespace gapless::internal {

// Adds a piece of evidence with the shares of the kinds of work, and an advice for each kind that takes a quarter of
// the loader's time or more. `has_gpu`: transforms may move to it. Adds nothing where the recording does not name the
// functions. A rule that calls this lists "loader_work" among its needs.
void AddLoaderWork(Tables& tables, bool has_gpu, Bottleneck& found);

}  // namespace gapless::internal
