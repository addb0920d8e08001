// SPDX-License-Identifier: Apache-2.0
// Reads the rows of one table of ROCm's profilers.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ingest/reader.h"
#include "ingest/readers/rocpd/meaning.h"
#include "ingest/readers/rocprof_csv/columns.h"

namespace gapless::internal::rocm {

// The GPUs of the tables of one run: "Agent 4" is a number among all processors, and a table says which are GPUs.
class Gpus {
 public:
  // Learns from the table of agents, which comes first.
  void Learn(std::string_view text, TraceBuilder& builder);
  // The number of the GPU in "Agent 4", "GPU 1", "2"; absent of a processor, and of "".
  int32_t DeviceOf(std::string_view agent);

 private:
  std::map<int64_t, int32_t> known_{};    // devices, by number of the agent; absent: a processor
  std::map<int64_t, int32_t> numbers_{};  // devices of agents that no table describes
};

// Returns the form of a table, by its first row.
Form FormOf(std::string_view text);

// Reads a table into `meaning`; of a summary into `builder`. Returns the number of its rows; less than 0: it is no
// table that is known.
int64_t ReadTable(std::string_view text, Gpus& gpus, const ReadContext& context, TraceBuilder& builder,
                  Meaning& meaning);

}  // namespace gapless::internal::rocm
