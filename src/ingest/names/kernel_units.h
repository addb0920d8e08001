// SPDX-License-Identifier: Apache-2.0
// Finds the units that a matrix kernel runs on, and its precision, from its name.
#pragma once

#include <string_view>

#include "trace/enums.h"

namespace gapless::internal {

// Returns whether the kernel runs on matrix units (tensor cores, AMD's matrix cores). Returns kUnknown for names
// that say nothing: the operator may yet show the kernel's class. `lower` is the whole name in lower case.
MatrixUnit MatrixUnitByName(std::string_view lower);

// Returns the type of the operands, for kernels that multiply matrices; kMixed if two operands differ, kUnknown if
// the name does not say. `lower` is the whole name in lower case.
KernelPrecision PrecisionByName(std::string_view lower);

}  // namespace gapless::internal
