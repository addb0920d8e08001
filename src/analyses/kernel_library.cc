// SPDX-License-Identifier: Apache-2.0
// Matches lower-case words in kernel names against tables of libraries and device generations.
#include "analyses/kernel_library.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace gapless::internal {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// Does `part` occur where a word begins?
bool HasWord(std::string_view text, std::string_view part) {
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; ++at)
    if (at == 0 || (std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0 && text[at - 1] != '_')) return true;
  return false;
}

}  // namespace

std::string_view KernelLibrary(std::string_view kernel) {
  struct Mark {
    std::string_view part, library;
  };
  // The first that occurs: libraries build on each other, the outermost comes first.
  static constexpr Mark kMarks[] = {{"nccl", "nccl"},
                                    {"rccl", "rccl"},
                                    {"nvshmem", "nvshmem"},
                                    {"triton_", "triton"},
                                    {"cudnn", "cudnn"},
                                    {"flashinfer", "flashinfer"},
                                    {"flash_fwd", "flash"},
                                    {"flash_bwd", "flash"},
                                    {"flashattn", "flash"},
                                    {"fmha_cutlass", "pytorch"},
                                    {"xmma_fprop", "cudnn"},
                                    {"xmma_dgrad", "cudnn"},
                                    {"xmma_wgrad", "cudnn"},
                                    {"implicit_convolve", "cudnn"},
                                    {"wgrad_alg", "cudnn"},
                                    {"dgrad_", "cudnn"},
                                    {"nchwtonhwc", "cudnn"},
                                    {"nhwctonchw", "cudnn"},
                                    {"cublas", "cublas"},
                                    {"splitkreduce", "cublas"},
                                    {"nvjet", "cublas"},
                                    {"xmma_gemm", "cublas"},
                                    {"volta_", "cublas"},
                                    {"turing_", "cublas"},
                                    {"ampere_", "cublas"},
                                    {"gemmsn", "cublas"},
                                    {"gemv", "cublas"},
                                    {"tensorrt_llm", "tensorrt_llm"},
                                    {"fbgemm", "fbgemm"},
                                    {"split_embedding", "fbgemm"},
                                    {"vllm::", "vllm"},
                                    {"sgl_", "sglang"},
                                    {"aiter", "aiter"},
                                    {"ck_tile", "composable_kernel"},
                                    {"kernel_gemm_xdl", "composable_kernel"},
                                    {"cijk_", "hipblaslt"},
                                    {"igemm_", "miopen"},
                                    {"miopen", "miopen"},
                                    {"subtensorop", "miopen"},
                                    {"batched_transpose_", "miopen"},
                                    {"at::native", "pytorch"},
                                    {"at_cuda_detail", "pytorch"},
                                    {"multi_tensor_apply", "apex"},
                                    {"cutlass", "cutlass"},
                                    {"rocprim", "rocprim"},
                                    {"cub::", "cub"}};
  const std::string lower = Lower(kernel);
  for (const Mark& mark : kMarks)
    if (lower.find(mark.part) != std::string::npos) return mark.library;
  return {};
}

int64_t LeastComputeMajor(std::string_view kernel) {
  struct Generation {
    std::string_view word;
    int64_t major;
  };
  static constexpr Generation kGenerations[] = {
      {"volta_", 7},      {"turing_", 7},     {"ampere_", 8},         {"hopper_", 9},          {"nvjet_", 9},
      {"sm70_xmma_", 7},  {"sm72_xmma_", 7},  {"sm75_xmma_", 7},      {"sm80_xmma_", 8},       {"sm86_xmma_", 8},
      {"sm89_xmma_", 8},  {"sm90_xmma_", 9},  {"sm100_xmma_", 10},    {"cutlass_70_", 7},      {"cutlass_75_", 7},
      {"cutlass_80_", 8}, {"cutlass_89_", 8}, {"cutlass3x_sm90_", 9}, {"cutlass3x_sm100_", 10}};
  const std::string lower = Lower(kernel);
  for (const Generation& generation : kGenerations)
    if (HasWord(lower, generation.word)) return generation.major;
  return 0;
}

bool ChangesLayout(std::string_view kernel) {
  for (const std::string_view part : {"nchwToNhwc", "nhwcToNchw", "nchwToFoldedNhwc", "foldedNhwcToNchw",
                                      "batched_transpose_", "transpose_NCHW2CNHW", "transpose_CNHW2NCHW"})
    if (kernel.find(part) != kernel.npos) return true;
  return false;
}

}  // namespace gapless::internal
