// SPDX-License-Identifier: Apache-2.0
#include "ingest/readers/nsys_stats/names.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/strings.h"
#include "trace/ids.h"

namespace gapless::internal::nsys_stats {
namespace {

struct Direction {
  std::string_view brief, full;
  int64_t operation, managed;
};
constexpr Direction kDirections[] = {{"HtoD", "Host-to-Device", 1, 11},   {"DtoH", "Device-to-Host", 2, 12},
                                     {"DtoD", "Device-to-Device", 8, 13}, {"HtoA", "Host-to-Array", 3, 3},
                                     {"AtoH", "Array-to-Host", 4, 4},     {"AtoA", "Array-to-Array", 5, 5},
                                     {"AtoD", "Array-to-Device", 6, 6},   {"DtoA", "Device-to-Array", 7, 7},
                                     {"HtoH", "Host-to-Host", 9, 9},      {"PtoP", "Peer-to-Peer", 10, 10}};
constexpr std::array<std::string_view, 8> kKinds = {"Pageable", "Pinned",        "Device",         "Array",
                                                    "Managed",  "Device Static", "Managed Static", "Unknown"};
// Reports by what they tell, most first; then names that were used until 2022.
constexpr std::string_view kTraces[] = {"cuda_gpu_trace",       "cuda_gpu_trace_base", "gputrace",
                                        "cuda_kern_exec_trace", "kernexectrace",       "cuda_api_trace",
                                        "cudaapitrace",         "nvtx_pushpop_trace",  "nvtxpptrace"};
constexpr std::string_view kSums[] = {"cuda_gpu_kern_sum",
                                      "cuda_gpu_kern_sum_base",
                                      "gpukernsum",
                                      "cuda_gpu_mem_time_sum",
                                      "gpumemtimesum",
                                      "cuda_api_sum",
                                      "cudaapisum",
                                      "cuda_gpu_sum",
                                      "gpusum",
                                      "cuda_gpu_kern_gb_sum",
                                      "cuda_gpu_mem_size_sum",
                                      "gpumemsizesum",
                                      "osrt_sum",
                                      "osrtsum",
                                      "nvtx_sum",
                                      "nvtxsum",
                                      "cuda_kern_exec_sum",
                                      "kernexecsum"};

const Direction* DirectionOf(std::string_view name) {
  for (const Direction& direction : kDirections)
    if (name.find(direction.brief) != name.npos || name.find(direction.full) != name.npos) return &direction;
  return nullptr;
}

}  // namespace

bool IsMemoryName(std::string_view name) {
  return name.starts_with("[") && (ContainsIgnoreCase(name, "memcpy") || ContainsIgnoreCase(name, "memset"));
}

int64_t OperationOf(std::string_view name) {
  if (ContainsIgnoreCase(name, "memset")) return -1;
  const Direction* direction = DirectionOf(name);
  if (direction == nullptr) return 0;
  return name.find("Unified") != name.npos ? direction->managed : direction->operation;
}

std::string MemoryName(std::string_view name) {
  if (ContainsIgnoreCase(name, "memset")) return "Memset";
  const Direction* direction = DirectionOf(name);
  return StrCat("Memcpy ", direction == nullptr ? std::string_view("Unknown") : direction->brief,
                name.find("Unified") != name.npos ? " (Managed)" : "");
}

int64_t MemoryKindOf(std::string_view name) {
  const auto* const known = std::ranges::find(kKinds, name);
  return known == kKinds.end() ? kAbsent : known - kKinds.begin();
}

std::string_view WithoutVersion(std::string_view call) {
  const size_t at = call.rfind("_v");
  if (at == call.npos || at + 2 == call.size()) return call;
  return call.find_first_not_of("0123456789", at + 2) == call.npos ? call.substr(0, at) : call;
}

ReportFile ReportOf(std::string_view path) {
  if (!path.ends_with(".csv")) return {};
  const std::string_view name = path.substr(0, path.size() - 4);
  const auto ends = [&](std::string_view report) {
    return name.ends_with(report) && name.size() > report.size() && name[name.size() - report.size() - 1] == '_';
  };
  for (const auto& reports : {std::span<const std::string_view>(kTraces), std::span<const std::string_view>(kSums)})
    for (const std::string_view report : reports)
      if (ends(report)) return {std::string(name.substr(0, name.size() - report.size() - 1)), std::string(report)};
  return {};
}

std::vector<std::string> ReadInstead(std::string_view path) {
  std::vector<std::string> paths;
  const ReportFile file = ReportOf(path);
  if (file.report.empty()) return paths;
  for (const std::string_view ending : {".sqlite", ".nsys-rep", ".qdrep"}) paths.push_back(StrCat(file.stem, ending));
  for (const auto& reports : {std::span<const std::string_view>(kTraces), std::span<const std::string_view>(kSums)})
    for (const std::string_view report : reports) {
      if (report == file.report) return paths;
      paths.push_back(StrCat(file.stem, "_", report, ".csv"));
    }
  return paths;
}

std::vector<std::string> ReadWith(std::string_view path) {
  std::vector<std::string> paths;
  const ReportFile file = ReportOf(path);
  if (file.report.empty()) return paths;
  const bool is_trace = std::ranges::find(kTraces, file.report) != std::end(kTraces);
  const std::span<const std::string_view> reports =
      is_trace ? std::span<const std::string_view>(kTraces) : std::span<const std::string_view>(kSums);
  for (const std::string_view report : reports)
    if (report != file.report) paths.push_back(StrCat(file.stem, "_", report, ".csv"));
  return paths;
}

}  // namespace gapless::internal::nsys_stats
