// SPDX-License-Identifier: Apache-2.0
// Whose kernel it is, read from its name.
#pragma once

#include <string_view>

namespace gapless {

// "cublas", "cudnn", "cutlass", "triton", "flash", "pytorch", "nccl", "hipblaslt" …; "": the name does not tell. Call
// once per distinct name.
std::string_view KernelLibrary(std::string_view kernel);

}  // namespace gapless
