// SPDX-License-Identifier: Apache-2.0
// The readers of ROCm's and XLA's recordings and of printed tables on arbitrary bytes. Mutations seldom keep what a
// format is recognised by, so the first byte chooses how the input begins.
#include <string>

#include "check_trace.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace {

constexpr std::string_view kBeginnings[] = {
    "{\"rocprofiler-sdk-tool\":[{",
    "\"Kind\",\"Agent_Id\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\"\n",
    "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,SQ_WAVES\n",
    "\"Name\",\"Calls\",\"TotalDurationNs\"\n",
    "CPU total # of Calls\n----------  ----------  ----------  ----------\n",
    ""};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gapless::internal;
  if (size == 0) return 0;
  std::string bytes(kBeginnings[data[0] % std::size(kBeginnings)]);
  bytes.append(reinterpret_cast<const char*>(data + 1), size - 1);
  CheckReading(std::move(bytes));
  return 0;
}
