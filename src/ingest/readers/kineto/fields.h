// SPDX-License-Identifier: Apache-2.0
// The values of one event of a Kineto trace, as found, before it is known what kind of event it is. Keys come in any
// order.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "trace/builder.h"

namespace gapless::internal::kineto {

// Texts are JSON tokens as they stand in the input: strings with their quotes and escapes, numbers as digits.
struct EventFields {
  std::string_view ph, cat, name, pid, tid, ts, dur, id;
  std::string_view input_dims, input_types, concrete_inputs, call_stack, call_from, source_line, args_name;
  std::string_view collective, dtype, group_name, sync_kind;
  int64_t external_id = kAbsent, correlation = kAbsent, sequence = kAbsent;
  int64_t record_function = kAbsent;
  int64_t device = kAbsent, stream = kAbsent, context = kAbsent, bytes = kAbsent, graph_id = kAbsent;
  int64_t registers = kAbsent, shared_bytes = kAbsent;
  int64_t graph_node_id = kAbsent, channel = kAbsent, priority = kAbsent;
  int64_t seq = kAbsent, src_rank = kAbsent, dst_rank = kAbsent;
  int64_t begin_ns = kAbsent;     // start of an event of rocprof, which has no categories
  int64_t step_number = kAbsent;  // of a step that a program marks for TensorFlow's or JAX's profiler
  std::string_view group_ranks, task_type;
  int64_t group_size = kAbsent, in_elements = kAbsent, out_elements = kAbsent;
  int64_t wait_on_event = kAbsent, wait_on_stream = kAbsent, wait_on_record = kAbsent;
  int64_t device_type = kAbsent, address = kAbsent, total_allocated = kAbsent, total_reserved = kAbsent;
  std::array<int32_t, 3> grid{kAbsent32, kAbsent32, kAbsent32}, block{kAbsent32, kAbsent32, kAbsent32};
  double bandwidth_gbps = kNan, blocks_per_sm = kNan, warps_per_sm = kNan, occupancy_pct = kNan;
  // Counter events: the first numeric arguments, with their keys.
  struct Value {
    std::string_view key, token;
  };
  std::array<Value, 8> values;
  int value_count = 0;
};

// Numbers in tokens. A quoted number counts: old recorders wrote "tid": "25738" and "tid": "stream 7"; ROCm writes
// "0x0". kAbsent if the token is no integer or does not fit.
int64_t TokenInt(std::string_view token);
double TokenReal(std::string_view token);  // NaN if the token is no number
// Decimal microseconds to ns, exactly; digits below a nanosecond are cut off. kAbsent when it is no number or does not
// fit.
int64_t TokenNs(std::string_view token);
// The text of a string token without its quotes; other tokens as they are. Escapes stay.
std::string_view TokenText(std::string_view token);
// Returns the value, or kAbsent32 if it does not fit.
inline int32_t Narrow(int64_t value) {
  return value == kAbsent || value < INT32_MIN + 1 || value > INT32_MAX ? kAbsent32 : static_cast<int32_t>(value);
}

}  // namespace gapless::internal::kineto
