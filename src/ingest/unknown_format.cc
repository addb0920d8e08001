// SPDX-License-Identifier: Apache-2.0
#include "ingest/unknown_format.h"

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
  if (path.ends_with(".xplane.pb") || path.ends_with(".xplane.pb.gz"))
    return Fail(ErrorCode::kInput, "this is an XSpace of TensorFlow's or JAX's profiler, which cannot be read", path,
                "give the .trace.json.gz of the same folder; without one: xprof --logdir LOGS, Trace Viewer, save as "
                "JSON; or record with jax.profiler.trace(LOGS, create_perfetto_trace=True)");
  if (head.find("<html") != head.npos || head.find("<!DOCTYPE html") != head.npos)
    return Fail(ErrorCode::kInput, "this is a page for a browser, which holds no recording that can be read", path,
                "for memory write torch.cuda.memory._dump_snapshot(\"memory.pickle\"), for a timeline "
                "prof.export_chrome_trace(\"trace.json\")");
  return Fail(ErrorCode::kInput, "no reader knows this format", path, "`gapless formats` lists what can be read");
}

}  // namespace gapless::internal
