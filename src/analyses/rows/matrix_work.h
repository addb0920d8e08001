// SPDX-License-Identifier: Apache-2.0
// Table matrix_work, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct MatrixWorkRows : TypedRows<MatrixWorkRows> {
  static constexpr std::string_view kName = "matrix_work";
  static constexpr std::string_view kHelp =
      "Matrix products, convolutions, attention per device: share, and on matrix units or not";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"device_name", kText, "", "name of the device"},
      {"vendor", kText, "", "nvidia, amd, other; NULL: not recorded"},
      {"compute_major", kInt, "", "compute capability"},
      {"compute_minor", kInt, "", "compute capability"},
      {"kernel_ns", kInt, "ns", "time of all kernels without communication"},
      {"matrix_ns", kInt, "ns", "of these, matrix products, convolutions and attention"},
      {"on_units_ns", kInt, "ns", "of these, time of kernels on tensor cores (matrix cores), by their names"},
      {"off_units_ns", kInt, "ns", "time of kernels whose names show that they do not use tensor cores"},
      {"unknown_ns", kInt, "ns", "time of kernels whose names show neither"},
      {"share", kReal, "share", "matrix_ns / kernel_ns"},
      {"on_units_share", kReal, "share", "on_units_ns / (on_units_ns + off_units_ns); NULL: both are 0"},
      {"dtype", kText, "",
       "element type with the most matrix time off tensor cores; of all if all run on them; NULL: not recorded"},
      {"gpu_op_id", kInt, "id:gpu_op", "the longest kernel off tensor cores"},
      {"least_compute_major", kInt, "",
       "lowest possible compute capability, from names of NVIDIA's matrix kernels (volta_…, ampere_…); NULL: not in "
       "the "
       "names"},
      {"off_float32_ns", kInt, "ns",
       "of off_units_ns, float32 products (type from the kernel's name, else its operator) and products of unknown "
       "type"},
      {"off_float64_ns", kInt, "ns", "of off_units_ns, products of float64"},
  };
};

}  // namespace gapless::internal
