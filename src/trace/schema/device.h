// SPDX-License-Identifier: Apache-2.0
// GPUs the recorder described or that have rows in gpu_op.
#pragma once

#include "trace/columns.h"
#include "trace/enums.h"

namespace gapless::internal {

template <template <class> class Of>
struct DeviceColumns {
  Of<int32_t> device = BeginsAs{0};
  Of<Vendor> vendor = BeginsAs{Vendor::kOther};
  Of<StringId> name = kUnset;
  Of<StringId> arch = kUnset;
  Of<StringId> uuid = kUnset;
  Of<StringId> pcie_bus_id = kUnset;
  Of<int32_t> compute_major = kUnset;
  Of<int32_t> compute_minor = kUnset;
  Of<int32_t> sm_count = kUnset;
  Of<int32_t> max_threads_per_sm = kUnset;
  Of<int64_t> memory_bytes = kUnset;
  Of<int64_t> clock_khz = kUnset;

  static constexpr AboutTable kAbout{"device", "GPUs that the recorder described or that did work"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      RankKey(),
      ShownColumn<&DeviceColumns::device>("", "ordinal of the device, as the process sees it"),
      ShownColumn<&DeviceColumns::vendor>("", "nvidia, amd or other"),
      ShownColumn<&DeviceColumns::name>("", "product name"),
      ShownColumn<&DeviceColumns::arch>("", "architecture"),
      ShownColumn<&DeviceColumns::uuid>("", "unique id of the device"),
      ShownColumn<&DeviceColumns::pcie_bus_id>("", "address on the PCIe bus"),
      ShownColumn<&DeviceColumns::compute_major>("", "compute capability, before the point"),
      ShownColumn<&DeviceColumns::compute_minor>("", "compute capability, after the point"),
      ShownColumn<&DeviceColumns::sm_count>("", "multiprocessors (compute units)"),
      ShownColumn<&DeviceColumns::memory_bytes>("bytes", "device memory"),
      ShownColumn<&DeviceColumns::max_threads_per_sm>("", "resident threads per multiprocessor"),
      ShownColumn<&DeviceColumns::clock_khz>("kHz", "clock rate"),
  };
};
using DeviceRow = DeviceColumns<InOwnText>;
using DeviceTable = TableFor<DeviceColumns>;

}  // namespace gapless::internal
