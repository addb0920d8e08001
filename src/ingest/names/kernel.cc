// SPDX-License-Identifier: Apache-2.0
// Reads names of kernels by rules: takes the function's name from them, finds its class, its units and its precision.
#include "ingest/names/kernel.h"

#include <cctype>

#include "ingest/names/class_rules.h"
#include "ingest/names/text.h"

namespace gapless::internal {

// Takes the function's name from a kernel name, mangled or demangled, without its template arguments.
//
// This is not a demangler: it reads only the plain identifiers at the start of a mangled name, which is enough for
// the rules on names. Everything is in lower case here, so the digits that give lengths are the only structure
// left.

namespace {

// Reads the identifiers of a mangled name ("_zn2at6native29vectorized_elementwise_kernelili4e…" → "at::native::
// vectorized_elementwise_kernel") up to its template arguments. Returns "" if the name is not of this form. A
// length that goes beyond the name ends the reading: recorders cut long names off.
std::string MangledHead(std::string_view lower) {
  size_t at = lower.starts_with("_zn") ? 3 : 2;
  std::string head;
  while (at < lower.size() && std::isdigit(static_cast<unsigned char>(lower[at])) != 0) {
    size_t length = 0;
    for (; at < lower.size() && std::isdigit(static_cast<unsigned char>(lower[at])) != 0 && length < lower.size(); ++at)
      length = 10 * length + static_cast<size_t>(lower[at] - '0');
    if (length == 0 || length > lower.size() - at) break;
    const std::string_view part = lower.substr(at, length);
    at += length;
    if (part.starts_with("_global__n_")) continue;  // a namespace without a name
    head += head.empty() ? "" : "::";
    head += part;
  }
  return head;
}

}  // namespace

std::string KernelHead(std::string_view lower) {
  if (lower.starts_with("_z"))
    if (std::string head = MangledHead(lower); !head.empty()) return head;
  // A condition on the template arguments may stand where others have "void".
  if (lower.starts_with("std::enable_if"))
    if (const size_t type = lower.find("::type "); type != lower.npos) lower.remove_prefix(type + 7);
  std::string head(lower);
  for (const std::string_view none : {"(anonymous namespace)", "<unnamed>"})
    for (size_t at; (at = head.find(none)) != std::string::npos;) head.erase(at, none.size());
  const size_t end = head.find_first_of("<(");
  if (end != std::string::npos && end > 0) head.resize(end);
  return head;
}

// Finds the class of a kernel by a list of rules, each a part of a name. The rules are tried in order; the first
// part that occurs decides. The cost is one search per rule, about 250 at most, for each distinct name of a
// recording.
//
// `kHead` looks at the function's own name only, because arguments mention other kernels' words: elementwise
// kernels carry functors called …Norm… or …Reduce…. Kernels whose own name says nothing (cutlass::Kernel2,
// ck_tile::kentry) are read by their arguments, with rules of their own: those arguments are full of converters,
// copies and activations.
namespace {

using class_rules::ClassRule;
using enum GpuOpClass;

// Returns true if the function is a frame for code that its template arguments name.
bool IsWrapper(std::string_view head) {
  if (head.starts_with("void ")) head.remove_prefix(5);
  for (const std::string_view end : {"kentry", "trampoline_kernel"})
    if (head.ends_with(end)) return true;
  if (!head.starts_with("cutlass")) return false;
  for (const std::string_view end : {"::kernel", "::kernel2", "::device_kernel"})
    if (head.ends_with(end)) return true;
  return false;
}

// Returns the class of the first rule that occurs in the name; nullopt if none does.
template <class Rules>
std::optional<GpuOpClass> Match(const Rules& rules, std::string_view lower, std::string_view head) {
  for (const ClassRule& rule : rules)
    if (Has(rule.where == class_rules::Where::kHead ? head : lower, rule.part)) return rule.op_class;
  return std::nullopt;
}

}  // namespace

// Generated code comes first, since its names list the operators that were fused:
// "triton_poi_fused_convolution_relu" is elementwise. Communicators and optimizers come before the families whose
// words they contain.
std::optional<GpuOpClass> ClassByName(std::string_view lower, std::string_view head) {
  if (const auto found = Match(class_rules::kGenerated, lower, head)) return found;
  if (const auto found = AscendClass(lower)) return found;
  // The namespaces of CUB's kernels name the library that uses them.
  if (Has(head, "cub_") || Has(head, "cub::"))
    return Match(class_rules::kFamilies, "", head.substr(head.rfind(':') + 1)).value_or(kOther);
  if (const auto found = Match(class_rules::kCommunicators, lower, head)) return found;
  if (const auto found = Match(class_rules::kOptimizers, lower, head)) return found;
  if (const auto found = Match(class_rules::kHelpers, lower, head)) return found;
  return IsWrapper(head) ? Match(class_rules::kWrapped, lower, head) : Match(class_rules::kFamilies, lower, head);
}

// Finds the units and the precision of matrix kernels by the instructions and types in their names.
//
// Libraries write the instruction into the names of their kernels: "s16816gemm" is a 16×8×16 product on tensor
// cores, "ffma" a multiplication on FP32 pipes. What names the instruction decides first. Names of families, which
// nearly always run on matrix units ("xmma_gemm", "nvjet", "flash_fwd"), decide only where no instruction is
// named: on Hopper cuBLAS runs FP32 products without TF32 in kernels called
// sm80_xmma_gemm_f32f32_f32f32_f32_…_ffma.
//
// Libraries have their own spelling of types, so nvJet, Tensile and TensorRT-LLM are read by rules of their own. A
// kernel whose operands have two types, such as 4-bit weights with 16-bit activations, has precision kMixed.

namespace {

// Instructions and operator classes of matrix units: NVIDIA's by shape (m, n, k), AMD's MFMA.
constexpr std::string_view kMatrixInstructions[] = {
    "h884",  "s884",  "d884",     "z884",     "h1688",        "s1688",    "c1688",       "s1684",
    "i8816", "16816", "161616",   "i16832",   "i16864",       "hmma",     "_imma",       "_dmma",
    "gmma",  "wmma",  "tcgen05",  "_umma",    "::umma",       "tensorop", "tensor16x8x", "tensor8x8x",
    "tf32",  "s8_i8", "_mma_",    "mfma",     "_mi16x16",     "_mi32x32", "_mi4x4",      "xdlops",
    "_xdl_", "gtcx",  "m16n8k16", "m16nxk32", "xdl_cshuffle",
};

// Instructions of the ordinary units, and kernels that use them.
constexpr std::string_view kVectorParts[] = {"ffma",
                                             "f32f32_f32f32_f32",
                                             "f64f64_f64f64_f64",
                                             "sgemm",
                                             "dgemm_",
                                             "volta_hgemm",
                                             "turing_hgemm",
                                             "ampere_hgemm",
                                             "maxwell_hgemm",
                                             "zgemm",
                                             "igemm_int8",
                                             "simt_",
                                             "opclasssimt",
                                             "_dl_",
                                             "scudnn",
                                             "gemmsn",
                                             "gemmk1",
                                             "gemv",
                                             "winograd",
                                             "sp3asmconv",
                                             "miopenconvuni",
                                             "naive_conv",
                                             "sconv",
                                             "fft1d_",
                                             "fft2d",
                                             "cgemm",
                                             "explicit_convolve",
                                             "_engine<",
                                             "dgrad2d_alg",
                                             "wgrad_alg0",
                                             "_grouped_direct",
                                             "conv2d_c1_k1",
                                             "causal_conv1d",
                                             "depthwise",
                                             "im2col",
                                             "im2d2col",
                                             "vol2col",
                                             "col2im",
                                             "gemm_half_q_half",
                                             "paged_attention_v1",
                                             "paged_attention_v2",
                                             "decodewithpagedkv",
                                             "decodewithkvcache"};

// Families that run on matrix units.
constexpr std::string_view kMatrixFamilies[] = {
    "xmma_gemm",      "xmma_implicit_gemm", "xmma_sparse",   "xmma_warp_specialized",
    "xmma_fprop",     "xmma_dgrad",         "xmma_wgrad",    "sm90_xmma",
    "sm100_xmma",     "first_layer_wgrad",  "nvjet",         "flash_fwd",
    "flash_bwd",      "flashattnfwd",       "flashattnbwd",  "cudnn_generated",
    "fmha",           "sage_fwd",           "attn_fwd",      "unified_attention",
    "bwd_kernel_dk",  "bwd_kernel_dq",      "matmul_ogs",    "_sm100",
    "cutlass3x_sm90", "cutlass3x_sm100",    "deep_gemm::sm", "device_kernel_sm90",
    "prefillwithpag", "prefillwithrag",     "prefillwithkv", "batchmlapaged",
    "fmoe_",          "kernel_gemm_xdl",    "ck_tile",       "aiter::mla_",
    "marlin::marlin", "marlin_moe_wna16",   "nvfuser_matmul"};

// PyTorch's memory-efficient attention is compiled for ordinary units (sm50), and for float32 before Ampere.
bool IsSimtAttention(std::string_view lower) {
  return Has(lower, "fmha_cutlass") && (Has(lower, "_sm50") || (Has(lower, "_f32_") && !Has(lower, "_sm80")));
}

struct PrecisionPart {
  std::string_view part;
  KernelPrecision precision;
};
using enum KernelPrecision;

// In order: the type of accumulators and results (f32) stands beside that of the operands and is asked last.
constexpr PrecisionPart kPrecisionParts[] = {
    {"tf32", kTf32},     {"e4m3", kFp8},      {"e5m2", kFp8},          {"e2m1", kFp4},      {"bf16", kBf16},
    {"bfloat16", kBf16}, {"df16b", kBf16},    {"_fp8", kFp8},          {"fp8_", kFp8},      {"float8", kFp8},
    {"_f8", kFp8},       {"fp4", kFp4},       {"int8", kInt8},         {"i16832", kInt8},   {"i8816", kInt8},
    {"_i8", kInt8},      {"s8_i8", kInt8},    {"fp16", kFp16},         {"f16f16", kFp16},   {"_f16", kFp16},
    {"half", kFp16},     {"_float16", kFp16}, {"df16_", kFp16},        {"h884", kFp16},     {"h1688", kFp16},
    {"h16816", kFp16},   {"s884", kFp16},     {"hgemm", kFp16},        {"hmma", kFp16},     {"f64f64", kFp64},
    {"d884", kFp64},     {"z884", kFp64},     {"dgemm", kFp64},        {"zgemm", kFp64},    {"s1688", kTf32},
    {"c1688", kTf32},    {"f32f32", kFp32},   {"float_double", kFp32}, {"double", kFp64},   {"ffma", kFp32},
    {"sgemm", kFp32},    {"scudnn", kFp32},   {"cgemm", kFp32},        {"winograd", kFp32}, {"fft1d_", kFp32},
    {"fft2d_", kFp32},   {"fp32", kFp32},     {"_f32", kFp32},         {"float", kFp32},
};

// Types of Tensile's kernels ("Cijk_Alik_Bljk_BBS_BH_…"): operands, result, accumulator.
constexpr PrecisionPart kTensile[] = {{"_bbs_", kBf16}, {"_b_bs_", kBf16}, {"_hhs_", kFp16}, {"_h_hs_", kFp16},
                                      {"_hss_", kFp16}, {"_hb_", kFp16},   {"_f8", kFp8},    {"_b8", kFp8},
                                      {"_i8", kInt8},   {"_s_mx_", kTf32}, {"_sb_", kFp32},  {"_s_b_", kFp32},
                                      {"_db_", kFp64},  {"_d_b_", kFp64},  {"_cb_", kFp32},  {"_zb_", kFp64}};

// Returns the type of nvJet's operands, by the first letter of "tst", "hsh", "qqtst". Newer names carry the
// architecture before it: "nvjet_sm100_tst_…".
KernelPrecision OfNvjet(std::string_view lower) {
  size_t at = lower.find("nvjet_") + 6;
  if (lower.substr(at).starts_with("sm")) at = lower.find('_', at) + 1;
  const std::string_view types = lower.substr(at);
  if (types.starts_with("t")) return kBf16;
  if (types.starts_with("h")) return kFp16;
  return types.starts_with("qq") ? kFp8 : kUnknown;
}

// Returns the type of the operands of TensorRT-LLM's "bmm_C_AB_Accumulator_…", the second part:
// bmm_Bfloat16_MxE2m1MxE4m3_Fp32, bmm_E4m3_E4m3E4m3_Fp32.
KernelPrecision OfBmm(std::string_view lower) {
  const size_t first = lower.find('_', 4), end = first == lower.npos ? first : lower.find('_', first + 1);
  if (end == lower.npos) return kUnknown;
  const std::string_view operands = lower.substr(first + 1, end - first - 1);
  const bool fp4 = Has(operands, "e2m1"), fp8 = Has(operands, "e4m3"), bf16 = Has(operands, "bfloat16");
  if (fp4 + fp8 + bf16 > 1) return kMixed;
  return fp4 ? kFp4 : fp8 ? kFp8 : bf16 ? kBf16 : kUnknown;
}

template <class Parts>
KernelPrecision First(const Parts& parts, std::string_view lower) {
  for (const PrecisionPart& precision_part : parts)
    if (Has(lower, precision_part.part)) return precision_part.precision;
  return kUnknown;
}

// Returns true if 16-bit activations are multiplied with weights of 4 or 8 bits.
bool IsWeightOnly(std::string_view lower) {
  constexpr std::string_view kParts[] = {"marlin", "gptq", "awq", "wna16", "w4a16", "4bit", "tinygemm_m16n8k16"};
  return HasAny(lower, kParts) || (Has(lower, "bf16x") && Has(lower, "mxfp4"));
}

// Returns the part of the name that has the operands' types, without the result's:
// "fmhaSm100aKernel_QkvE4m3OBfloat16…" has the operands behind "Qkv", then the result behind "O". The "o" of
// "bfloat16" as an operand is no result.
std::string_view WithoutResult(std::string_view lower) {
  const size_t qkv = lower.find("kernel_qkv"), out = qkv == lower.npos ? qkv : lower.find('o', qkv + 10);
  if (qkv == lower.npos || out == lower.npos) return lower;
  return lower.substr(qkv, out - qkv + (lower.substr(qkv + 10).starts_with("bfloat16") ? 8 : 0));
}

}  // namespace

MatrixUnit MatrixUnitByName(std::string_view lower) {
  if (IsSimtAttention(lower)) return MatrixUnit::kNo;
  if (HasAny(lower, kMatrixInstructions)) return MatrixUnit::kYes;
  if (HasAny(lower, kVectorParts)) return MatrixUnit::kNo;
  if (lower.starts_with("cijk_")) return MatrixUnit::kNo;  // Tensile without an MFMA instruction ("_MI16x16x…")
  return HasAny(lower, kMatrixFamilies) ? MatrixUnit::kYes : MatrixUnit::kUnknown;
}

KernelPrecision PrecisionByName(std::string_view lower) {
  if (Has(lower, "nvjet_")) return OfNvjet(lower);
  if (lower.starts_with("cijk_")) return First(kTensile, lower);
  if (lower.starts_with("bmm_")) return OfBmm(lower);
  if (IsWeightOnly(lower)) return kMixed;
  if (Has(lower, "fp8_fp4_gemm")) return First(kPrecisionParts, lower.substr(lower.find('<') + 1));
  return First(kPrecisionParts, WithoutResult(lower));
}

// Finds the class of kernels of Ascend's libraries.
//
// Ascend names a kernel after the call, the implementation and the operation ("aclnnAddmm_MatMulCommon_MemSet"):
// only the last part is what runs. A number behind it is the place in the graph ("trans_Cast_12"). Operations that
// are not in the table, such as matrix products, are left to the rules of all vendors, which know them by their
// words.

namespace {

using enum GpuOpClass;

struct Operation {
  std::string_view name;  // lower case, without version and number
  GpuOpClass op_class;
};
constexpr Operation kOperations[] = {
    {"add", kPointwise},     {"adds", kPointwise},     {"sub", kPointwise},           {"mul", kPointwise},
    {"muls", kPointwise},    {"div", kPointwise},      {"realdiv", kPointwise},       {"sqrt", kPointwise},
    {"addcmul", kPointwise}, {"addcdiv", kPointwise},  {"axpy", kPointwise},          {"equal", kPointwise},
    {"cast", kPointwise},    {"memset", kPointwise},   {"zeroslike", kPointwise},     {"oneslike", kPointwise},
    {"fill", kPointwise},    {"relugrad", kPointwise}, {"dropoutdomask", kPointwise}, {"dsagenbitmask", kPointwise},
    {"transdata", kCopy},    {"transpose", kCopy},     {"tensormove", kCopy},         {"broadcastto", kCopy},
    {"nllloss", kReduce},    {"nlllossgrad", kReduce},
};

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::optional<GpuOpClass> AscendClass(std::string_view lower) {
  const bool numbered_memset = lower.ends_with("_memset") && lower.size() > 7 && IsDigit(lower[lower.size() - 8]);
  if (!lower.starts_with("aclnn") && !lower.starts_with("trans_") && !numbered_memset) return std::nullopt;
  while (!lower.empty() && (IsDigit(lower.back()) || lower.back() == '_'))
    lower.remove_suffix(1);  // the place in the graph: trans_Cast_12
  const std::string_view operation = lower.substr(lower.rfind('_') + 1);
  for (const Operation& known : kOperations)
    if (known.name == operation) return known.op_class;
  return std::nullopt;
}

}  // namespace gapless::internal
