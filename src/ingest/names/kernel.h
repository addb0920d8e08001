// SPDX-License-Identifier: Apache-2.0
// Everything that the name of a kernel tells: the function, the class, and for matrix kernels the units and the
// precision.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trace/enums.h"

namespace gapless::internal {

// Returns the function's own name, without template arguments and parameters:
// "void at::native::(anonymous namespace)::reduce_kernel<512, …>(…)" → "void at::native::::reduce_kernel". Mangled
// names give their identifiers. `lower` is in lower case.
std::string KernelHead(std::string_view lower);

// Returns the class of the kernel; nullopt if no rule knows the name. `lower` is the whole name in lower case, `head`
// is its KernelHead.
std::optional<GpuOpClass> ClassByName(std::string_view lower, std::string_view head);

// Returns the class of a kernel that Ascend's libraries name; nullopt if the name is not one of theirs, or says enough
// for the rules of all vendors.
std::optional<GpuOpClass> AscendClass(std::string_view lower);

// Returns whether the kernel runs on matrix units (tensor cores, AMD's matrix cores). Returns kUnknown for names
// that say nothing: the operator may yet show the kernel's class. `lower` is the whole name in lower case.
MatrixUnit MatrixUnitByName(std::string_view lower);

// Returns the type of the operands, for kernels that multiply matrices; kMixed if two operands differ, kUnknown if
// the name does not say. `lower` is the whole name in lower case.
KernelPrecision PrecisionByName(std::string_view lower);

}  // namespace gapless::internal
