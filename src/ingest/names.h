// SPDX-License-Identifier: Apache-2.0
// Classifies names of runtime calls, kernels and copies of any recorder. All are pure functions of the name,
// called once per distinct name, and safe to call from several threads. New kernel families are added in
// names/class_rules.h and names/kernel.cc, one line each.
#pragma once

#include <string_view>

#include "trace/enums.h"

namespace gapless::internal {

// Returns what a runtime call does to the GPU's queues, for CUDA's runtime and driver, HIP, SYCL, Cambricon and
// Ascend. Returns kOther for calls that do nothing to the queues, and for unknown names.
ApiKind ClassifyApi(std::string_view call);

struct KernelTraits {
  GpuOpClass op_class = GpuOpClass::kOther;
  MatrixUnit matrix_unit = MatrixUnit::kUnknown;
  KernelPrecision precision =
      KernelPrecision::kUnknown;  // precision of matrix products (with vectors, too), convolutions, attention
};
// Returns class, units and precision of a kernel; kOther and unknown where the name does not say. The unit is kNo
// for kernels whose class does not multiply matrices.
KernelTraits ClassifyKernel(std::string_view kernel);

// Returns the class of a kernel that `operator_name` launched. A kernel that computes a convolution as a matrix
// product is a convolution: the operator decides where the name cannot.
GpuOpClass RefineByOperator(GpuOpClass by_name, std::string_view operator_name);

// Returns the direction of a copy, and for copies from and to the host whether that memory is pinned: "Memcpy HtoD
// (Pageable -> Device)", "CopyDeviceToHost", "DtoD" …
CopyKind ClassifyCopy(std::string_view name);

// "all_reduce" for "nccl:all_reduce", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "allreduce" …; "" for no collective.
std::string_view CollectiveKind(std::string_view name);

// Bytes of one element: "Float", "c10::BFloat16", "float16" …; 0 when unknown.
int64_t ElementBytes(std::string_view dtype);

}  // namespace gapless::internal
