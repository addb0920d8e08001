// SPDX-License-Identifier: Apache-2.0
// Table serving_phases, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct ServingPhasesRows : TypedRows<ServingPhasesRows> {
  static constexpr std::string_view kName = "serving_phases";
  static constexpr std::string_view kHelp =
      "Each iteration of a serving engine: phase, requests, tokens, how busy the device was, graph replay";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"step", kInt, "", "number of the iteration"},
      {"phase", kText, "", "prefill: new requests only; decode: running ones only; mixed: both"},
      {"prefill_requests", kInt, "", "new requests, of which the iteration computes the prompt or a part of it"},
      {"decode_requests", kInt, "", "running requests, each of which gets its next token"},
      {"prefill_tokens", kInt, "", "tokens of prompts computed; NULL: not said"},
      {"decode_tokens", kInt, "", "tokens generated; NULL: not said"},
      {"ts_ns", kInt, "ns", "start of its step window"},
      {"dur_ns", kInt, "ns", "length of that window: until host and device are done with it"},
      {"busy_ns", kInt, "ns", "of it, time with an operation on the device"},
      {"host_idle_ns", kInt, "ns",
       "of it, idle time of the device for a reason of the host: its code, launches, waits"},
      {"exposed_comm_ns", kInt, "ns", "of it, communication while nothing computes"},
      {"kernels", kInt, "", "kernels that it launched"},
      {"graph_kernels", kInt, "", "of those, in a replay of a graph; their shapes are not known"},
      {"launch", kText, "", "graph: a graph holds most of its kernels; eager: not; NULL: it launched none"},
      {"source", kText, "", "how phase and requests are known: annotation of the engine"},
  };
};

}  // namespace gapless::internal
