// SPDX-License-Identifier: Apache-2.0
// The readers of recordings of communication on arbitrary bytes. What none of them takes is given to each in turn: as
// an entry of a flight recorder's dump, an object of Inspector's, and the rows of a benchmark.
#include <string>

#include "check_trace.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace {

using namespace gapless::internal;

void CheckRows(const Trace& trace) {
  for (const int64_t ns : trace.collectives.dur_ns) Check(ns == kAbsent || ns >= 0);
  for (const int64_t bytes : trace.collectives.bytes) Check(bytes == kAbsent || bytes >= 0);
  for (const int64_t ns : trace.comm_benchmarks.dur_ns) Check(ns >= 0);
  for (const int64_t wrong : trace.comm_benchmarks.wrong) Check(wrong == kAbsent || wrong >= 0);
  for (const int64_t calls : trace.comm_calls.calls) Check(calls > 0);
  for (const StackId stack : trace.collectives.stack) Check(!stack.valid() || stack.value < trace.stacks.size());
}

void ReadBytes(std::string bytes) {
  static ThreadPool pool(1);
  MemorySource source(std::move(bytes));
  const auto trace = ReadTrace(source, {.pool = pool});
  if (!trace)
    Check(!trace.error().message.empty() && !trace.error().hint.empty());
  else
    CheckTrace(*trace), CheckRows(*trace);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  ReadBytes(bytes);
  ReadBytes(R"({"pg_config":{},"pg_status":{},"entries":[{"profiling_name":"nccl:all_reduce",)" + bytes + "}]}");
  ReadBytes(R"({"header":{"rank":0,"n_ranks":2},"coll_perf":{"coll":"AllReduce","coll_exec_time_us":5,)" + bytes +
            "}}");
  ReadBytes("# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n 8 2 float sum -1 " + bytes);
  ReadBytes("host:1:2 [0] NCCL INFO " + bytes);
  return 0;
}
