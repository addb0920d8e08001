// SPDX-License-Identifier: Apache-2.0
// Matches lower-case words in kernel names against tables of libraries and device generations, and strips names down to
// comparable forms: without anonymous namespaces, casts, return types and parameters.
#include "analyses/kernel_names.h"

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

namespace {

// Takes out "(anonymous namespace)::" and "<unnamed>::", which stand for the same.
std::string WithoutAnonymous(std::string_view kernel) {
  std::string out(kernel);
  for (const std::string_view name : {"(anonymous namespace)::", "<unnamed>::", "_GLOBAL__N__"})
    for (size_t at = 0; (at = out.find(name, at)) != std::string::npos;) out.erase(at, name.size());
  return out;
}

// Returns the position of the last "(" outside of template arguments, or the end if there are no parameters.
size_t ParametersOf(std::string_view kernel) {
  int depth = 0;
  for (size_t i = 0; i < kernel.size(); ++i) {
    if (kernel[i] == '<') ++depth;
    if (kernel[i] == '>' && i > 0 && kernel[i - 1] != '-') --depth;
    if (kernel[i] == '(' && depth <= 0 && i > 0) return i;
  }
  return kernel.size();
}

// Returns the position at which the name begins, behind a return type: after the last space outside of brackets.
size_t NameOf(std::string_view kernel) {
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < kernel.size(); ++i) {
    if (kernel[i] == '<' || kernel[i] == '(') ++depth;
    if (kernel[i] == '>' || kernel[i] == ')') --depth;
    if (kernel[i] == ' ' && depth <= 0) begin = i + 1;
  }
  return begin;
}

// Takes out a cast before a template argument: "(int)4", "(bool)1".
std::string WithoutCasts(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins = text[i] == '(' && i > 0 && (text[i - 1] == '<' || text[i - 1] == ',');
    const size_t close = begins ? text.find(')', i) : std::string_view::npos;
    const bool is_cast = close != std::string_view::npos && close + 1 < text.size() &&
                         (std::isdigit(static_cast<unsigned char>(text[close + 1])) != 0 || text[close + 1] == '-') &&
                         std::all_of(text.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                     text.begin() + static_cast<std::ptrdiff_t>(close),
                                     [](unsigned char c) { return std::isalnum(c) || c == '_' || c == ':'; });
    if (is_cast)
      i = close;
    else
      out += text[i];
  }
  return out;
}

}  // namespace

std::string PlainKernelName(std::string_view kernel) {
  const std::string text = WithoutAnonymous(kernel);
  std::string_view name = std::string_view(text).substr(0, ParametersOf(text));
  name = name.substr(NameOf(name));
  std::string out;
  for (const char c : name)
    if (c != ' ') out += c;
  return WithoutCasts(out);
}

std::string KernelFunction(std::string_view kernel) {
  std::string name = PlainKernelName(kernel);
  name = name.substr(0, name.find('<'));
  const size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

}  // namespace gapless::internal
