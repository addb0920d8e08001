// SPDX-License-Identifier: Apache-2.0
// The closed vocabularies of the tables. The text of each value is what SQL and JSON show (the page
// reference/tables.md). An enum's values are stored in the cache file: append only, never renumber.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gapless::internal {

// The kind of a host-side slice.
enum class SliceCategory : uint8_t { kOperator, kAnnotation, kPython, kRuntime, kDriver, kOverhead, kOther };
inline constexpr std::array<std::string_view, 7> kSliceCategoryNames = {"operator", "annotation", "python", "runtime",
                                                                        "driver",   "overhead",   "other"};

// The effect of a runtime or driver call on the GPU, for any vendor's runtime. kNone: not such a call.
enum class ApiKind : uint8_t {
  kNone,
  kKernelLaunch,
  kGraphLaunch,
  kMemcpy,
  kMemset,
  kDeviceSync,
  kStreamSync,
  kEventSync,
  kStreamWait,
  kBlockingMemcpy,
  kEventRecord,
  kEventQuery,
  kAlloc,
  kFree,
  kHostAlloc,
  kHostFree,
  kCompile,
  kOther
};
inline constexpr std::array<std::string_view, 18> kApiKindNames = {
    "none",        "kernel_launch", "graph_launch", "memcpy",          "memset",       "device_sync",
    "stream_sync", "event_sync",    "stream_wait",  "blocking_memcpy", "event_record", "event_query",
    "alloc",       "free",          "host_alloc",   "host_free",       "compile",      "other"};

enum class GpuOpKind : uint8_t { kKernel, kMemcpy, kMemset };
inline constexpr std::array<std::string_view, 3> kGpuOpKindNames = {"kernel", "memcpy", "memset"};

enum class GpuOpClass : uint8_t {
  kGemm,
  kConv,
  kAttention,
  kNorm,
  kPointwise,
  kReduce,
  kOptimizer,
  kCommunication,
  kCopy,
  kOther,
  kGemv  // matrix times vector: reads each weight once, so memory bandwidth limits it
};
inline constexpr std::array<std::string_view, 11> kGpuOpClassNames = {
    "gemm", "conv", "attention", "norm", "pointwise", "reduce", "optimizer", "communication", "copy", "other", "gemv"};

// Direction and host memory of a copy, as far as the recorder said. "Managed" are pages of managed memory that moved
// on demand, because the host or a kernel touched them; what the program asked to move (a prefetch) is a copy like
// others.
enum class CopyKind : uint8_t {
  kNone,
  kHtoDPageable,
  kHtoDPinned,
  kHtoD,
  kDtoHPageable,
  kDtoHPinned,
  kDtoH,
  kDtoD,
  kPtoP,
  kHtoH,
  kOther,
  kHtoDManaged,
  kDtoHManaged
};
inline constexpr std::array<std::string_view, 13> kCopyKindNames = {
    "",    "h2d_pageable", "h2d_pinned", "h2d",   "d2h_pageable", "d2h_pinned", "d2h",
    "d2d", "p2p",          "h2h",        "other", "h2d_managed",  "d2h_managed"};

// A MatrixUnit says whether a kernel runs on matrix units (tensor cores, matrix cores), as far as its name shows.
enum class MatrixUnit : uint8_t { kUnknown, kNo, kYes };
inline constexpr std::array<std::string_view, 3> kMatrixUnitNames = {"unknown", "no", "yes"};

// Type of the operands that a matrix kernel multiplies, as its name says. kUnknown: the name does not say, or the
// kernel multiplies no matrices. kMixed: two different types (16-bit activations with 4-bit weights).
enum class KernelPrecision : uint8_t { kUnknown, kFp64, kFp32, kTf32, kFp16, kBf16, kFp8, kInt8, kFp4, kMixed };
inline constexpr std::array<std::string_view, 10> kKernelPrecisionNames = {"unknown", "fp64", "fp32", "tf32", "fp16",
                                                                           "bf16",    "fp8",  "int8", "fp4",  "mixed"};

enum class SyncKind : uint8_t { kDevice, kStream, kEvent, kStreamWait, kImplicit };
inline constexpr std::array<std::string_view, 5> kSyncKindNames = {"device", "stream", "event", "stream_wait",
                                                                   "implicit"};

enum class StepSource : uint8_t { kProfiler, kAnnotation, kAgent, kInferred };
inline constexpr std::array<std::string_view, 4> kStepSourceNames = {"profiler", "annotation", "agent", "inferred"};

enum class FlowKind : uint8_t { kLaunch, kForwardBackward, kOther };
inline constexpr std::array<std::string_view, 3> kFlowKindNames = {"launch", "fwdbwd", "other"};

enum class Vendor : uint8_t { kNvidia, kAmd, kOther };
inline constexpr std::array<std::string_view, 3> kVendorNames = {"nvidia", "amd", "other"};

enum class MemoryAction : uint8_t { kAlloc, kFree, kSegmentAlloc, kSegmentFree, kOom };
inline constexpr std::array<std::string_view, 5> kMemoryActionNames = {"alloc", "free", "segment_alloc", "segment_free",
                                                                       "oom"};

enum class Severity : uint8_t { kInfo, kLoss, kError };
inline constexpr std::array<std::string_view, 3> kSeverityNames = {"info", "loss", "error"};

enum class Role : uint8_t { kPrimary, kSupplement };
inline constexpr std::array<std::string_view, 2> kRoleNames = {"primary", "supplement"};

template <class E, size_t N>
constexpr std::string_view NameIn(const std::array<std::string_view, N>& names, E value) {
  return static_cast<size_t>(value) < N ? names[static_cast<size_t>(value)] : std::string_view("?");
}
constexpr std::string_view ToString(SliceCategory v) { return NameIn(kSliceCategoryNames, v); }
constexpr std::string_view ToString(ApiKind v) { return NameIn(kApiKindNames, v); }
constexpr std::string_view ToString(GpuOpKind v) { return NameIn(kGpuOpKindNames, v); }
constexpr std::string_view ToString(GpuOpClass v) { return NameIn(kGpuOpClassNames, v); }
constexpr std::string_view ToString(CopyKind v) { return NameIn(kCopyKindNames, v); }
constexpr std::string_view ToString(MatrixUnit v) { return NameIn(kMatrixUnitNames, v); }
constexpr std::string_view ToString(KernelPrecision v) { return NameIn(kKernelPrecisionNames, v); }
constexpr std::string_view ToString(SyncKind v) { return NameIn(kSyncKindNames, v); }
constexpr std::string_view ToString(StepSource v) { return NameIn(kStepSourceNames, v); }
constexpr std::string_view ToString(FlowKind v) { return NameIn(kFlowKindNames, v); }
constexpr std::string_view ToString(Vendor v) { return NameIn(kVendorNames, v); }
constexpr std::string_view ToString(MemoryAction v) { return NameIn(kMemoryActionNames, v); }
constexpr std::string_view ToString(Severity v) { return NameIn(kSeverityNames, v); }
constexpr std::string_view ToString(Role v) { return NameIn(kRoleNames, v); }

// Matrix products, convolutions and attention: the work of tensor cores. A matrix times a vector is not among them:
// memory limits it on any unit.
constexpr bool IsMatrixWork(GpuOpClass v) {
  return v == GpuOpClass::kGemm || v == GpuOpClass::kConv || v == GpuOpClass::kAttention;
}
// Returns true for kernels that memory bandwidth limits: a few operations per element read.
constexpr bool MovesData(GpuOpClass v) {
  return v == GpuOpClass::kPointwise || v == GpuOpClass::kNorm || v == GpuOpClass::kReduce || v == GpuOpClass::kGemv;
}
// Returns true if the call puts work on a stream, so that a GPU operation may carry its correlation.
constexpr bool IsLaunch(ApiKind v) {
  return v == ApiKind::kKernelLaunch || v == ApiKind::kGraphLaunch || v == ApiKind::kMemcpy || v == ApiKind::kMemset ||
         v == ApiKind::kBlockingMemcpy;
}
// Returns true if the call blocks the host thread until GPU work is done.
constexpr bool IsBlockingSync(ApiKind v) {
  return v == ApiKind::kDeviceSync || v == ApiKind::kStreamSync || v == ApiKind::kEventSync ||
         v == ApiKind::kBlockingMemcpy;
}

}  // namespace gapless::internal
