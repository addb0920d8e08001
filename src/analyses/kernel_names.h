// SPDX-License-Identifier: Apache-2.0
// Compares names of kernels that two profilers print: with or without parameters, namespaces and casts.
#pragma once

#include <string>
#include <string_view>

namespace gapless::internal {

// Returns the name with its template arguments, without return type, parameters, spaces, casts such as "(int)4" and
// anonymous namespaces.
std::string PlainKernelName(std::string_view kernel);
// Returns the name of the function alone: "void at::native::copy<4>(int)" → "copy".
std::string KernelFunction(std::string_view kernel);

}  // namespace gapless::internal
