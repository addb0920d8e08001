// SPDX-License-Identifier: Apache-2.0
// The names of kernels: the library and the device generation that they tell, and the forms in which the names that two
// profilers print, with or without parameters, namespaces and casts, are the same.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gapless::internal {

// "cublas", "cudnn", "cutlass", "triton", "flash", "pytorch", "nccl", "hipblaslt" …; "": unknown. Call once per
// distinct name.
std::string_view KernelLibrary(std::string_view kernel);

// The major compute capability a device must have to run it, where NVIDIA's libraries write the generation into the
// name: 7 for volta_sgemm_… and turing_…, 8 for ampere_… and sm80_xmma_…, 9 for nvjet_…; 0: not in the name. Newer
// devices run kernels made for older ones, and GTX 16 cards (7.5, no tensor cores) those of Volta and Turing.
int64_t LeastComputeMajor(std::string_view kernel);

// Does it only change the memory layout of a tensor for a library: cuDNN's between NCHW and NHWC, MIOpen's batched
// transposes, cuBLAS' transposes?
bool ChangesLayout(std::string_view kernel);

// Returns the name with its template arguments, without return type, parameters, spaces, casts such as "(int)4" and
// anonymous namespaces.
std::string PlainKernelName(std::string_view kernel);
// Returns the name of the function alone: "void at::native::copy<4>(int)" → "copy".
std::string KernelFunction(std::string_view kernel);

}  // namespace gapless::internal
