// SPDX-License-Identifier: Apache-2.0
// Names as nsys stats prints them, and the files that its reports go to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal::nsys_stats {

// "[CUDA memcpy HtoD]", "[CUDA memset]": what a device did that is no kernel.
bool IsMemoryName(std::string_view name);
// nsys' number of the operation in such a name: 1 host to device, 2 device to host, …, 11 to 13 of managed memory; 0:
// not said. Of a memset -1.
int64_t OperationOf(std::string_view name);
// "Memcpy HtoD", "Memcpy HtoD (Managed)", "Memset", as recordings call it.
std::string MemoryName(std::string_view name);
// nsys' number of a kind of memory: "Pageable", "Device Static"; absent of anything else.
int64_t MemoryKindOf(std::string_view name);
// "cudaLaunchKernel" of "cudaLaunchKernel_v7000".
std::string_view WithoutVersion(std::string_view call);

// A file REPORT_NAME.csv of nsys stats --output REPORT is a report of REPORT.
struct ReportFile {
  std::string stem{}, report{};  // report: "cuda_gpu_trace"; empty: the file is none
};
ReportFile ReportOf(std::string_view path);
// The files beside it that tell the same and more, of which one that exists is read instead: the recording itself, its
// export, and reports that are read together with this one.
std::vector<std::string> ReadInstead(std::string_view path);
// The files beside a report that are read with it.
std::vector<std::string> ReadWith(std::string_view path);

}  // namespace gapless::internal::nsys_stats
