// SPDX-License-Identifier: Apache-2.0
// Kernel names are the only thing every recorder agrees on. The rules are tried in order; the first part that occurs
// decides. `kHead` looks at the function's own name only (no template arguments, no parameters), because arguments
// mention other kernels' words: elementwise kernels carry functors called …Norm… or …Reduce….
#include "ingest/names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace gapless {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool Has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// "void at::native::(anonymous namespace)::reduce_kernel<512, …>(…)" → "at::native::::reduce_kernel".
std::string Head(std::string_view name) {
  std::string head(name);
  for (size_t at; (at = head.find("(anonymous namespace)")) != std::string::npos;) head.erase(at, 21);
  const size_t end = head.find_first_of("<(");
  if (end != std::string::npos && end > 0) head.resize(end);
  return head;
}

enum class Where : uint8_t { kHead, kAnywhere };

struct ClassRule {
  std::string_view part;  // lower case
  Where where;
  GpuOpClass op_class;
};

using enum GpuOpClass;
using enum Where;
constexpr ClassRule kClassRules[] = {
    {"nccl", kHead, kCommunication},
    {"rccl", kHead, kCommunication},
    {"msccl", kHead, kCommunication},
    {"nvshmem", kHead, kCommunication},
    {"deep_ep", kAnywhere, kCommunication},
    {"cross_device_reduce", kHead, kCommunication},
    {"all_reduce", kHead, kCommunication},
    {"allreduce", kHead, kCommunication},
    {"all_gather", kHead, kCommunication},
    {"allgather", kHead, kCommunication},
    {"reduce_scatter", kHead, kCommunication},
    {"alltoall", kHead, kCommunication},
    {"multi_tensor_apply", kHead, kOptimizer},
    {"foreach", kHead, kOptimizer},
    {"fusedadam", kAnywhere, kOptimizer},
    {"fused_adam", kAnywhere, kOptimizer},
    {"fused_sgd", kAnywhere, kOptimizer},
    {"fused_lamb", kAnywhere, kOptimizer},
    {"flash", kAnywhere, kAttention},
    {"fmha", kAnywhere, kAttention},
    {"attention", kHead, kAttention},
    {"attn", kHead, kAttention},
    {"sdpa", kHead, kAttention},
    {"triton_poi", kHead, kPointwise},
    {"triton_red", kHead, kReduce},
    {"triton_per", kHead, kReduce},
    {"triton_tem", kHead, kGemm},
    {"triton_mm", kHead, kGemm},
    {"elementwise", kHead, kPointwise},
    {"reduce_kernel", kHead, kReduce},
    {"nchwtonhwc", kAnywhere, kCopy},
    {"nhwctonchw", kAnywhere, kCopy},
    {"convert", kHead, kCopy},
    {"batch_norm", kHead, kNorm},
    {"batchnorm", kHead, kNorm},
    {"layer_norm", kHead, kNorm},
    {"layernorm", kHead, kNorm},
    {"rms_norm", kHead, kNorm},
    {"rmsnorm", kHead, kNorm},
    {"bn_fw", kHead, kNorm},
    {"bn_bw", kHead, kNorm},
    {"bnfwd", kHead, kNorm},
    {"bnbwd", kHead, kNorm},
    {"groupnorm", kHead, kNorm},
    {"rowwisemoments", kHead, kNorm},
    {"gammabeta", kHead, kNorm},
    {"norm", kHead, kNorm},
    {"conv", kHead, kConv},
    {"scudnn", kAnywhere, kConv},
    {"wgrad", kAnywhere, kConv},
    {"dgrad", kAnywhere, kConv},
    {"fprop", kAnywhere, kConv},
    {"winograd", kAnywhere, kConv},
    {"s884cudnn", kAnywhere, kConv},
    {"s1688cudnn", kAnywhere, kConv},
    {"cudnn_", kHead, kConv},
    {"computeoffsets", kAnywhere, kConv},
    {"im2col", kHead, kConv},
    {"col2im", kHead, kConv},
    {"igemm", kHead, kConv},
    {"miopen", kHead, kConv},
    {"implicit", kHead, kConv},
    {"gemm", kAnywhere, kGemm},
    {"gemv", kAnywhere, kGemm},
    {"nvjet", kHead, kGemm},
    {"cijk_", kHead, kGemm},
    {"cutlass", kAnywhere, kGemm},
    {"splitkreduce", kAnywhere, kGemm},
    {"dot_kernel", kHead, kGemm},
    {"matmul", kHead, kGemm},
    {"softmax", kHead, kReduce},
    {"argmax", kHead, kReduce},
    {"cumsum", kHead, kReduce},
    {"reduce", kHead, kReduce},
    {"scan", kHead, kReduce},
    {"topk", kHead, kReduce},
    {"sort", kHead, kReduce},
    {"welford", kHead, kReduce},
    {"memcpy", kHead, kCopy},
    {"copy", kHead, kCopy},
    {"transpose", kHead, kCopy},
    {"catarray", kHead, kCopy},
    {"pointwise", kHead, kPointwise},
    {"dropout", kHead, kPointwise},
    {"activation", kHead, kPointwise},
    {"relu", kHead, kPointwise},
    {"gelu", kHead, kPointwise},
    {"silu", kHead, kPointwise},
    {"fill", kHead, kPointwise},
};

// Parts of kernel names that only matrix-unit kernels have. First block: NVIDIA's profilers' list (reference of the
// TensorBoard plugin, gpu_metrics_parser); then what newer libraries call theirs; last AMD's MFMA kernels.
constexpr std::string_view kMatrixParts[] = {"h884",
                                             "s884",
                                             "h1688",
                                             "s1688",
                                             "hmma",
                                             "i8816",
                                             "16816",
                                             "xmma_implicit_gemm",
                                             "xmma_sparse_conv",
                                             "xmma_warp_specialized_implicit_gemm",
                                             "xmma_gemm",
                                             "xmma_sparse_gemm",
                                             "c1688",
                                             "first_layer_wgrad_kernel",
                                             "nvjet",
                                             "wgmma",
                                             "tensorop",
                                             "wmma",
                                             "i16832",
                                             "s8_i8",
                                             "mma_",
                                             "flash_fwd",
                                             "flash_bwd",
                                             "fmha_cutlass",
                                             "fmhca",
                                             "sm90_xmma",
                                             "cutlass3x_sm90",
                                             "cutlass3x_sm100",
                                             "tcgen05",
                                             "umma",
                                             "device_kernel_sm90",
                                             "mfma",
                                             "_mi16x16",
                                             "_mi32x32",
                                             "_mi4x4",
                                             "kernel_gemm_xdl",
                                             "xdlops",
                                             "xdl_cshuffle"};

// Parts that say a matrix product runs on the ordinary units.
constexpr std::string_view kVectorParts[] = {"sgemm",
                                             "dgemm_",
                                             "scudnn",
                                             "gemmsn",
                                             "gemv",
                                             "_simt_",
                                             "simt_",
                                             "winograd",
                                             "sconv",
                                             "fft2d",
                                             "cgemm",
                                             "gcgemm",
                                             "explicit_convolve",
                                             "_engine<float",
                                             "conv2d_grouped_direct",
                                             "depthwise",
                                             "computeoffsets",
                                             "im2col",
                                             "col2im"};

MatrixUnit MatrixUnitOf(std::string_view lower, GpuOpClass op_class) {
  const auto occurs = [&](std::string_view part) { return Has(lower, part); };
  if (std::any_of(std::begin(kMatrixParts), std::end(kMatrixParts), occurs)) return MatrixUnit::kYes;
  if (std::any_of(std::begin(kVectorParts), std::end(kVectorParts), occurs)) return MatrixUnit::kNo;
  const bool matrix_work = op_class == kGemm || op_class == kConv || op_class == kAttention;
  return matrix_work ? MatrixUnit::kUnknown : MatrixUnit::kNo;
}

// "cudaLaunchKernel", "cuLaunchKernelEx", "hipExtModuleLaunchKernel" → without the vendor's prefix and "_v2"-like
// suffix.
std::string_view WithoutPrefix(std::string_view call) {
  for (const std::string_view prefix : {"cuda", "hip", "cu"})
    if (call.starts_with(prefix)) return call.substr(prefix.size());
  return {};
}

}  // namespace

ApiKind ClassifyApi(std::string_view full) {
  if (full.starts_with("runFunction")) return ApiKind::kKernelLaunch;
  const std::string_view call = WithoutPrefix(full);
  const auto starts = [&](std::string_view part) { return call.starts_with(part); };
  if (call.empty()) return ApiKind::kOther;
  if (starts("GraphLaunch")) return ApiKind::kGraphLaunch;
  if (Has(call, "Launch")) return ApiKind::kKernelLaunch;
  if (starts("Memcpy")) return Has(call, "Async") ? ApiKind::kMemcpy : ApiKind::kBlockingMemcpy;
  if (starts("Memset")) return ApiKind::kMemset;
  if (starts("DeviceSynchronize") || starts("CtxSynchronize")) return ApiKind::kDeviceSync;
  if (starts("StreamSynchronize")) return ApiKind::kStreamSync;
  if (starts("EventSynchronize")) return ApiKind::kEventSync;
  if (starts("StreamWaitEvent")) return ApiKind::kStreamWait;
  if (starts("EventRecord")) return ApiKind::kEventRecord;
  if (starts("EventQuery") || starts("StreamQuery")) return ApiKind::kEventQuery;
  if (starts("HostAlloc") || starts("MallocHost") || starts("HostMalloc") || starts("HostRegister") ||
      starts("MemHostAlloc"))
    return ApiKind::kHostAlloc;
  if (starts("FreeHost") || starts("HostFree") || starts("HostUnregister") || starts("MemFreeHost"))
    return ApiKind::kHostFree;
  if (starts("Malloc") || starts("MemAlloc") || starts("MemCreate")) return ApiKind::kAlloc;
  if (starts("Free") || starts("MemFree")) return ApiKind::kFree;
  if (starts("ModuleLoad") || starts("LibraryLoad")) return ApiKind::kCompile;
  return ApiKind::kOther;
}

KernelTraits ClassifyKernel(std::string_view kernel) {
  const std::string lower = Lower(kernel), head = Head(lower);
  KernelTraits traits;
  for (const ClassRule& rule : kClassRules) {
    if (!Has(rule.where == kHead ? std::string_view(head) : std::string_view(lower), rule.part)) continue;
    traits.op_class = rule.op_class;
    break;
  }
  if (traits.op_class == kPointwise && Has(lower, "copy_kernel")) traits.op_class = kCopy;
  traits.matrix_unit = MatrixUnitOf(lower, traits.op_class);
  return traits;
}

GpuOpClass RefineByOperator(GpuOpClass by_name, std::string_view operator_name) {
  if (by_name == kGemm && Has(operator_name, "conv")) return kConv;
  if (by_name != kOther) return by_name;
  if (Has(operator_name, "norm")) return kNorm;
  if (Has(operator_name, "convolution") || Has(operator_name, "conv2d")) return kConv;
  if (Has(operator_name, "attention")) return kAttention;
  if (operator_name == "aten::mm" || operator_name == "aten::addmm" || operator_name == "aten::bmm") return kGemm;
  if (operator_name.starts_with("aten::_foreach") || operator_name.starts_with("aten::_fused_")) return kOptimizer;
  if (operator_name == "aten::copy_" || operator_name == "aten::cat") return kCopy;
  return by_name;
}

CopyKind ClassifyCopy(std::string_view name) {
  const bool pageable = Has(name, "Pageable"), pinned = Has(name, "Pinned");
  if (Has(name, "HtoD") || Has(name, "HostToDevice"))
    return pageable ? CopyKind::kHtoDPageable : pinned ? CopyKind::kHtoDPinned : CopyKind::kHtoD;
  if (Has(name, "DtoH") || Has(name, "DeviceToHost"))
    return pageable ? CopyKind::kDtoHPageable : pinned ? CopyKind::kDtoHPinned : CopyKind::kDtoH;
  if (Has(name, "DtoD") || Has(name, "DeviceToDevice")) return CopyKind::kDtoD;
  if (Has(name, "PtoP") || Has(name, "Peer")) return CopyKind::kPtoP;
  if (Has(name, "HtoH") || Has(name, "HostToHost")) return CopyKind::kHtoH;
  return CopyKind::kOther;
}

std::string_view CollectiveKind(std::string_view name) {
  struct Kind {
    std::string_view part, kind;
  };
  static constexpr Kind kKinds[] = {{"reducescatter", "reduce_scatter"},
                                    {"reduce_scatter", "reduce_scatter"},
                                    {"allreduce", "all_reduce"},
                                    {"all_reduce", "all_reduce"},
                                    {"cross_device_reduce", "all_reduce"},
                                    {"allgather", "all_gather"},
                                    {"all_gather", "all_gather"},
                                    {"alltoall", "all_to_all"},
                                    {"all_to_all", "all_to_all"},
                                    {"broadcast", "broadcast"},
                                    {"sendrecv", "send_recv"},
                                    {"send", "send"},
                                    {"recv", "recv"},
                                    {"barrier", "barrier"},
                                    {"scatter", "scatter"},
                                    {"gather", "gather"},
                                    {"reduce", "reduce"}};
  const std::string lower = Lower(name);
  for (const Kind& kind : kKinds)
    if (Has(lower, kind.part)) return kind.kind;
  return Has(lower, "nccl") || Has(lower, "rccl") ? "other" : "";
}

int64_t ElementBytes(std::string_view dtype) {
  struct Width {
    std::string_view name;
    int64_t bytes;
  };
  static constexpr Width kWidths[] = {{"double", 8},         {"float64", 8},
                                      {"long", 8},           {"int64", 8},
                                      {"long int", 8},       {"float", 4},
                                      {"float32", 4},        {"int", 4},
                                      {"int32", 4},          {"half", 2},
                                      {"float16", 2},        {"c10::half", 2},
                                      {"bfloat16", 2},       {"c10::bfloat16", 2},
                                      {"short", 2},          {"int16", 2},
                                      {"byte", 1},           {"char", 1},
                                      {"unsigned char", 1},  {"signed char", 1},
                                      {"int8", 1},           {"uint8", 1},
                                      {"bool", 1},           {"float8_e4m3fn", 1},
                                      {"float8_e5m2", 1},    {"float8_e4m3fnuz", 1},
                                      {"float8_e5m2fnuz", 1}};
  const std::string lower = Lower(dtype);
  for (const Width& width : kWidths)
    if (lower == width.name) return width.bytes;
  return 0;
}

}  // namespace gapless
