// SPDX-License-Identifier: Apache-2.0
// SQL table device: a row per GPU of a process. Of a GPU that no recorder described only the ordinal is known.
#include "query/cells.h"

namespace gapless::internal {
namespace {

constexpr auto kTable = &Trace::devices;
constexpr auto kInt = ColumnType::kInt;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    kTraceKey,
    kRankKey,
    {"device", kInt, "", "ordinal of the device, as the process sees it", Cell<kTable, &DeviceTable::device>},
    {"vendor", kText, "", "nvidia, amd or other", Cell<kTable, &DeviceTable::vendor>},
    {"name", kText, "", "product name", Cell<kTable, &DeviceTable::name>},
    {"arch", kText, "", "architecture", Cell<kTable, &DeviceTable::arch>},
    {"uuid", kText, "", "unique id of the device", Cell<kTable, &DeviceTable::uuid>},
    {"pcie_bus_id", kText, "", "address on the PCIe bus", Cell<kTable, &DeviceTable::pcie_bus_id>},
    {"compute_major", kInt, "", "compute capability, before the point", Cell<kTable, &DeviceTable::compute_major>},
    {"compute_minor", kInt, "", "compute capability, after the point", Cell<kTable, &DeviceTable::compute_minor>},
    {"sm_count", kInt, "", "multiprocessors (compute units)", Cell<kTable, &DeviceTable::sm_count>},
    {"memory_bytes", kInt, "bytes", "device memory", Cell<kTable, &DeviceTable::memory_bytes>},
    {"max_threads_per_sm", kInt, "", "resident threads per multiprocessor",
     Cell<kTable, &DeviceTable::max_threads_per_sm>},
    {"clock_khz", kInt, "kHz", "clock rate", Cell<kTable, &DeviceTable::clock_khz>},
};

}  // namespace

SQL_TABLE(device) = {.name = "device",
                     .help = "GPUs that the recorder described or that did work",
                     .columns = kColumns,
                     .rows = RowsOf<kTable>};

}  // namespace gapless::internal
