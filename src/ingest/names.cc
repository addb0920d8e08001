// SPDX-License-Identifier: Apache-2.0
// Classifies names by the words in them. Names are the only thing on which every recorder agrees: categories and
// fields differ by recorder and version, while a kernel is called the same everywhere.
//
// The rules on kernels are in names/; this file has those on runtime calls, copies, collectives and element types.
// All compare prefixes and parts, in an order that matters: "cudaMallocHost" also starts like "cudaMalloc", and
// "reducescatter" contains "reduce" and "scatter". A name that no rule knows is kOther or unknown, never an error.
#include "ingest/names.h"

#include <string>

#include "ingest/names/kernel.h"
#include "ingest/names/text.h"

namespace gapless::internal {
namespace {

using enum GpuOpClass;

// Returns the call without the vendor's prefix: "cudaLaunchKernel", "cuLaunchKernelEx",
// "hipExtModuleLaunchKernel". "cuda" is tried before "cu", which it begins with. Returns "" for calls of other
// vendors.
std::string_view WithoutPrefix(std::string_view call) {
  for (const std::string_view prefix : {"cuda", "hip", "cu"})
    if (call.starts_with(prefix)) return call.substr(prefix.size());
  return {};
}

// Classifies calls of other vendors' runtimes: SYCL's Unified Runtime and Level Zero, Cambricon's, Ascend's.
// Synchronisations are asked before copies and allocations, whose words some of them contain.
ApiKind ClassifyOtherApi(std::string_view call) {
  const auto is_of = [&](std::string_view prefix) { return call.starts_with(prefix); };
  if (!is_of("ur") && !is_of("pi") && !is_of("ze") && !is_of("cn") && !is_of("AscendCL@")) return ApiKind::kOther;
  const auto has = [&](std::string_view part) { return Has(call, part); };
  if (has("KernelLaunch") || has("LaunchKernel") || has("InvokeKernel") || has("aclnn") ||
      has("aclopCompileAndExecute") || has("CommandListsExecute") || has("hcom_") || has("Hccl"))
    return ApiKind::kKernelLaunch;
  if (has("SynchronizeDevice") || has("SyncDevice") || has("QueueFinish")) return ApiKind::kDeviceSync;
  if (has("SynchronizeStream") || has("QueueSync") || has("CommandQueueSynchronize") ||
      has("CommandListHostSynchronize"))
    return ApiKind::kStreamSync;
  if (has("SynchronizeEvent") || has("EventWait") || has("EventHostSynchronize") || has("FenceHostSynchronize") ||
      has("EventsWait"))
    return ApiKind::kEventSync;
  if (has("Memcpy") || has("MemBufferCopy") || has("AppendMemoryCopy")) return ApiKind::kMemcpy;
  if (has("Memset") || has("USMFill") || has("USMEnqueueFill") || has("AppendMemoryFill")) return ApiKind::kMemset;
  if (has("USMHostAlloc") || has("MemAllocHost")) return ApiKind::kHostAlloc;
  if (has("Malloc") || has("MemAlloc") || has("USMDeviceAlloc")) return ApiKind::kAlloc;
  if (has("aclrtFree") || has("cnrtFree") || has("USMFree") || has("MemFree")) return ApiKind::kFree;
  return ApiKind::kOther;
}

}  // namespace

// Classifies calls of CUDA and HIP; other prefixes go to ClassifyOtherApi. The order counts: a graph launch is
// asked before "Launch" anywhere in the name, and pinned host memory before allocations on the device.
ApiKind ClassifyApi(std::string_view full) {
  if (full.starts_with("runFunction")) return ApiKind::kKernelLaunch;
  const std::string_view call = WithoutPrefix(full);
  const auto starts = [&](std::string_view part) { return call.starts_with(part); };
  if (call.empty()) return ClassifyOtherApi(full);
  if (starts("GraphLaunch")) return ApiKind::kGraphLaunch;
  if (Has(call, "Launch")) return ApiKind::kKernelLaunch;
  if (starts("Memcpy")) return Has(call, "Async") ? ApiKind::kMemcpy : ApiKind::kBlockingMemcpy;
  if (starts("Memset")) return ApiKind::kMemset;
  if (starts("DeviceSynchronize") || starts("CtxSynchronize") ||
      starts("ThreadSynchronize"))  // the last: before CUDA 4
    return ApiKind::kDeviceSync;
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

// Asks the class first, then the units and the precision where they mean something. A kernel of unknown class is
// asked for its units, too, unless PyTorch's own elementwise code (at::) names it: a matrix unit may be the only
// sign that it multiplies matrices.
KernelTraits ClassifyKernel(std::string_view kernel) {
  const std::string lower = LowerCase(kernel), head = KernelHead(lower);
  const std::optional<GpuOpClass> known = ClassByName(lower, head);
  KernelTraits traits{.op_class = known.value_or(kOther)};
  if (traits.op_class == kPointwise && Has(lower, "copy_kernel")) traits.op_class = kCopy;
  const bool matrix_work = IsMatrixWork(traits.op_class);
  const bool may_be = matrix_work || (!known && !Has(head, "at::"));
  traits.matrix_unit = may_be ? MatrixUnitByName(lower) : MatrixUnit::kNo;
  if (matrix_work || traits.op_class == kGemv) traits.precision = PrecisionByName(lower);
  return traits;
}

// Lets the operator decide for kernels whose name does not, such as those of generated code. "native_layer_norm"
// is a norm, but aten::normal_ only draws random numbers.
GpuOpClass RefineByOperator(GpuOpClass by_name, std::string_view operator_name) {
  if (by_name == kGemm && Has(operator_name, "conv")) return kConv;
  if (by_name != kOther) return by_name;
  if (Has(operator_name, "norm") && !Has(operator_name, "normal")) return kNorm;  // aten::normal_ draws numbers
  if (Has(operator_name, "convolution") || Has(operator_name, "conv2d")) return kConv;
  if (Has(operator_name, "attention")) return kAttention;
  if (operator_name == "aten::mm" || operator_name == "aten::addmm" || operator_name == "aten::bmm") return kGemm;
  if (operator_name.starts_with("aten::_foreach") || operator_name.starts_with("aten::_fused_")) return kOptimizer;
  if (operator_name == "aten::copy_" || operator_name == "aten::cat") return kCopy;
  return by_name;
}

CopyKind ClassifyCopy(std::string_view name) {
  const bool pageable = Has(name, "Pageable"), pinned = Has(name, "Pinned");
  if (Has(name, "HtoD") || Has(name, "H2D") || Has(name, "HostToDevice"))
    return pageable ? CopyKind::kHtoDPageable : pinned ? CopyKind::kHtoDPinned : CopyKind::kHtoD;
  if (Has(name, "DtoH") || Has(name, "D2H") || Has(name, "DeviceToHost"))
    return pageable ? CopyKind::kDtoHPageable : pinned ? CopyKind::kDtoHPinned : CopyKind::kDtoH;
  if (Has(name, "DtoD") || Has(name, "D2D") || Has(name, "DeviceToDevice")) return CopyKind::kDtoD;
  if (Has(name, "PtoP") || Has(name, "P2P") || Has(name, "Peer")) return CopyKind::kPtoP;
  if (Has(name, "HtoH") || Has(name, "HostToHost")) return CopyKind::kHtoH;
  // Intel's recorder: M is memory of the system, S is shared and may be on either side.
  if (Has(name, "M2D")) return CopyKind::kHtoDPageable;
  if (Has(name, "D2M")) return CopyKind::kDtoHPageable;
  return CopyKind::kOther;
}

// Looks for the kinds in the order of the table: compound names ("reducescatter") stand before the words that they
// contain ("scatter", "reduce").
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
  const std::string lower = LowerCase(name);
  if (Has(lower, "deep_ep::") || Has(lower, "dpsk::ep::"))  // tokens to experts and back
    return Has(lower, "barrier") ? "barrier" : "all_to_all";
  for (const Kind& kind : kKinds)
    if (Has(lower, kind.part)) return kind.kind;
  constexpr std::string_view kLibraries[] = {"nccl", "rccl", "msccl", "hccl", "hcom_", "nvshmem", "rocshmem"};
  return HasAny(lower, kLibraries) ? "other" : "";
}

// Knows the spellings of PyTorch's dtypes, of C++ types and of NCCL's recorder, in any case.
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
  const std::string lower = LowerCase(dtype);
  for (const Width& width : kWidths)
    if (lower == width.name) return width.bytes;
  return 0;
}

}  // namespace gapless::internal
