// SPDX-License-Identifier: Apache-2.0
// What kind of run the tables show, where advice depends on it.
#pragma once

#include "analyses/analysis.h"

namespace gapless::internal {

// Is there an operator of a backward pass? Reads table operators.
bool Trains(Tables& tables);

// Did kernels run that PyTorch's compiler wrote, or functions that it compiled? Reads tables kernels and operators.
bool SeesCompiler(Tables& tables);

}  // namespace gapless::internal
