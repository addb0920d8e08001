// SPDX-License-Identifier: Apache-2.0
// Which units a matrix kernel runs on and what it multiplies, read from its name.
#pragma once

#include <string_view>

#include "trace/enums.h"

namespace gapless::internal {

// Returns kUnknown for names that say nothing: the operator may yet tell what the kernel is. `lower` is the whole name
// in lower case.
MatrixUnit MatrixUnitByName(std::string_view lower);

// Returns the type of the operands, for kernels that multiply matrices.
KernelPrecision PrecisionByName(std::string_view lower);

}  // namespace gapless::internal
