// SPDX-License-Identifier: Apache-2.0
#include "ingest/unknown_format.h"

#include <utility>

#include "base/strings.h"

namespace gapless::internal {
namespace {

// A file that is known by how it begins and what stands near its beginning.
struct Known {
  std::string_view begins, holds, name, hint;
};
constexpr Known kKnown[] = {
    {"PERFILE2", "", "the binary recording of Linux perf, which only perf can read",
     "perf script -i perf.data > perf.txt, and give perf.txt"},
    {"memray", "", "memray's own recording, which only memray can read",
     "python -m memray stats --json -o stats.json FILE, or python -m memray transform csv FILE"},
    {"AUS", "", "austin's binary recording, which only austin's tools can read",
     "austin2speedscope FILE profile.speedscope.json"},
    {"<!DOCTYPE html", "memray", "a page of memray for a browser",
     "python -m memray stats --json -o stats.json FILE.bin, of the recording that it was made from"},
    {"<!DOCTYPE html", "pyinstrument", "a page of pyinstrument for a browser",
     "pyinstrument -r session -o profile.pyisession train.py"},
    {"<html>\n<head><meta charset=\"utf-8\" /><title>GPU Memory", "",
     "a picture of a memory timeline, without its numbers",
     "prof.export_memory_timeline(\"memory.json\", device=\"cuda:0\") writes the numbers"},
    {"<html", "data:image/png;base64,", "a page with a picture, such as a memory timeline's, without its numbers",
     "prof.export_memory_timeline(\"memory.json\", device=\"cuda:0\") writes the numbers"},
    {"PAR1", "", "a table in Parquet, such as one of nsys export --type parquetdir, which cannot be read",
     "nsys export --type sqlite REPORT.nsys-rep, or give REPORT.nsys-rep itself"},
    {"ARROW1", "", "a table in Arrow, such as one of nsys export --type arrow, which cannot be read",
     "nsys export --type sqlite REPORT.nsys-rep, or give REPORT.nsys-rep itself"},
    {"workload_name,command,", "", "the machine of a run of rocprof-compute, without measurements",
     "give the pmc_perf.csv beside it"},
    {"Dispatch_ID,", "Kernel_Name,GPU_ID\n",
     "rocprof-compute's list of dispatches (pmc_dispatch_info.csv), without times", "give the pmc_perf.csv beside it"},
    {"Node,Dispatch_ID,Kernel_Name,GPU_ID\n", "",
     "rocprof-compute's list of dispatches (pmc_dispatch_info.csv), without times", "give the pmc_perf.csv beside it"},
    {"Kernel_Name,GPU_ID\n", "", "rocprof-compute's list of dispatches (pmc_dispatch_info.csv), without times",
     "give the pmc_perf.csv beside it"},
};

// Binary files without a mark of their own at the beginning.
constexpr std::pair<std::string_view, Known> kByName[] = {
    {".pftrace",
     {"", "", "a trace of Perfetto, which cannot be read",
      "of rocprofv3 give the database or the JSON: rocprofv3 --output-format rocpd json -- ./program"}},
    {".perfetto-trace",
     {"", "", "a trace of Perfetto, which cannot be read",
      "give what it was made from, or record with torch.profiler and export_chrome_trace"}},
    {".et",
     {"", "", "an execution trace of Chakra: a graph of operators, without device times",
      "give the trace that torch.profiler wrote beside it (export_chrome_trace)"}},
};

}  // namespace

Unexpected UnknownFormat(std::string_view head, const std::string& path) {
  if (head.empty())
    return Fail(ErrorCode::kInput, "the file is empty", path, "`gapless formats` lists what can be read");
  if (head.find("Execution Stats") != head.npos && head.find("GPU ID") != head.npos)
    return Fail(ErrorCode::kInput, "cannot read the totals of dcgmi stats: they have no samples over time", path,
                "record samples: dcgmi dmon -e 203,252,155 -d 100 > gpu.txt; gapless profile records them itself");
  for (const Known& known : kKnown)
    if (head.starts_with(known.begins) && head.find(known.holds) != head.npos)
      return Fail(ErrorCode::kInput, StrCat("this is ", known.name), path, std::string(known.hint));
  if (path.ends_with(".py"))
    return Fail(ErrorCode::kInput, "this is a program, not a recording of one", path,
                StrCat("gapless profile -- python ", ShellWord(path), " records it"));
  for (const auto& [ending, known] : kByName)
    if (path.ends_with(ending))
      return Fail(ErrorCode::kInput, StrCat("this seems to be ", known.name), path, std::string(known.hint));
  if (head.find("<html") != head.npos || head.find("<!DOCTYPE html") != head.npos)
    return Fail(ErrorCode::kInput, "this is a page for a browser, which holds no recording that can be read", path,
                "for memory write torch.cuda.memory._dump_snapshot(\"memory.pickle\"), for a timeline "
                "prof.export_chrome_trace(\"trace.json\")");
  return Fail(ErrorCode::kInput, "no reader knows this format", path, "`gapless formats` lists what can be read");
}

}  // namespace gapless::internal
