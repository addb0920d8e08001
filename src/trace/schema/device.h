// SPDX-License-Identifier: Apache-2.0
// GPUs the recorder described or that have rows in gpu_op.
#pragma once

#include "trace/column.h"
#include "trace/enums.h"
#include "trace/ids.h"

namespace gapless::internal {

struct DeviceTable {
  Column<int32_t> device;
  Column<Vendor> vendor;
  Column<StringId> name;
  Column<StringId> arch;
  Column<StringId> uuid;
  Column<StringId> pcie_bus_id;
  Column<int32_t> compute_major;  // kAbsent32: none
  Column<int32_t> compute_minor;
  Column<int32_t> sm_count;
  Column<int64_t> memory_bytes;
  Column<int32_t> max_threads_per_sm;
  Column<int64_t> clock_khz;

  size_t size() const { return device.size(); }

  // Calls f(name, column) for every column, in the order of declaration.
  template <class Self, class F>
  static void Visit(Self& self, F&& f) {
    f("device", self.device);
    f("vendor", self.vendor);
    f("name", self.name);
    f("arch", self.arch);
    f("uuid", self.uuid);
    f("pcie_bus_id", self.pcie_bus_id);
    f("compute_major", self.compute_major);
    f("compute_minor", self.compute_minor);
    f("sm_count", self.sm_count);
    f("memory_bytes", self.memory_bytes);
    f("max_threads_per_sm", self.max_threads_per_sm);
    f("clock_khz", self.clock_khz);
  }
};

}  // namespace gapless::internal
