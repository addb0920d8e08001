// SPDX-License-Identifier: Apache-2.0
// The lines of the user's code that construct what a finding is about, as the agent saw them. A finding is seen where
// an object is used, and cured where it is made.
#pragma once

#include <string>
#include <string_view>

#include "trace/run.h"

namespace gapless::internal {

// Returns the line that makes the optimiser of this class, of several the one with the most tensors; empty: not known.
std::string LineOfOptimizer(const Run& run, std::string_view name);

// Returns the line that makes the DataLoader that is read from at the line `read`; of those read from elsewhere the one
// with the most samples. Empty: not known.
std::string LineOfLoader(const Run& run, std::string_view read);

// Returns the first line that makes an object of this class ("DistributedDataParallel"); empty: not known.
std::string LineOfMade(const Run& run, std::string_view name);

// Returns the line that is worth showing: `made`, or where that is not known the line that uses it.
std::string MadeOr(std::string made, std::string_view used);

}  // namespace gapless::internal
