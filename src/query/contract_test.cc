// SPDX-License-Identifier: Apache-2.0
// The columns that scripts rely on. A line may get longer at its end; nothing may change or go.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "query/sql_table.h"

namespace gapless::internal {
namespace {

const std::map<std::string, std::string> kContract = {
    {"trace",
     "trace rank process execution role format path host pid world_size framework start_unix_ns dur_ns event_count"},
    {"device",
     "trace rank device vendor name arch uuid pcie_bus_id compute_major compute_minor sm_count memory_bytes "
     "max_threads_per_sm clock_khz"},
    {"thread", "trace rank pid tid name process_name"},
    {"slice",
     "id trace rank name category pid tid ts_ns dur_ns self_ns depth parent_id step external_id correlation sequence "
     "input_shapes input_types "
     "source_line concrete_inputs"},
    {"gpu_op",
     "id trace rank name kind class pid device context stream ts_ns dur_ns launch_id op_id step correlation graph_id "
     "bytes copy_kind "
     "bandwidth_gbps grid_x grid_y grid_z block_x block_y block_z registers shared_bytes occupancy_pct blocks_per_sm "
     "warps_per_sm"},
    {"gpu_annotation", "id trace rank name device stream ts_ns dur_ns"},
    {"sync", "id trace rank kind slice_id device stream waited_gpu_op_id event ts_ns dur_ns wait_ns"},
    {"collective",
     "id trace rank name kind slice_id gpu_op_id device stream group group_size sequence match_id dtype in_elements "
     "out_elements bytes "
     "ts_ns dur_ns algo_gbps bus_gbps"},
    {"step", "trace rank step name ts_ns dur_ns gpu_start_ns gpu_end_ns complete source samples tokens loss"},
    {"flow", "trace rank kind from_ts_ns from_tid to_ts_ns to_tid"},
    {"counter", "trace rank name device ts_ns value unit"},
    {"memory_event",
     "id trace rank device device_type stream action ts_ns bytes address slice_id stack_id category total_allocated "
     "total_reserved"},
    {"memory_block", "trace rank device address bytes alloc_ts_ns free_ts_ns state stack_id category"},
    {"comm_benchmark",
     "trace test program kind ranks bytes elements dtype redop root placement dur_ns algo_gbps bus_gbps wrong"},
    {"comm_channel", "trace host pid comm channel src_rank dst_rank direction transport family"},
    {"comm_call", "trace kind bytes dtype ranks algorithm protocol channels calls"},
    {"comm_message", "trace host level text place count line"},
    {"stack", "id parent_id file line function"},
    {"sample", "trace rank ts_ns tid stack_id weight_ns"},
    {"kernel_metric", "trace gpu_op_id kernel_name launch_index metric value text unit"},
    {"kernel_line", "trace kernel_name launch_index function pc file line stall samples executed"},
    {"host_function", "trace file line function calls self_ns total_ns"},
    {"environment", "trace key value"},
    {"read_stats", "trace rank kind severity count first_offset text"},
};

TEST(ContractTest, EveryTableHasItsColumnsInOrder) {
  std::map<std::string, std::string> actual;
  for (const SqlTable* table : AllSqlTables()) {
    std::string& columns = actual[std::string(table->name)];
    for (const SqlColumn& column : table->columns) columns.append(columns.empty() ? "" : " ").append(column.name);
  }
  for (const auto& [table, columns] : kContract) {
    EXPECT_EQ(actual[table].substr(0, columns.size()), columns) << table;
  }
}

}  // namespace
}  // namespace gapless::internal
