// SPDX-License-Identifier: Apache-2.0
// Finds the class of a kernel from its name.
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

}  // namespace gapless::internal
