// SPDX-License-Identifier: Apache-2.0
// Recordings made up at random, with everything a recorder might say and much that none should, are read, written as
// Chrome JSON and read again: each column of each table must be as it was. tests/convert_round_trip.py does the same
// with real ones.
#include <gtest/gtest.h>

#include <random>

#include "base/strings.h"
#include "convert/testing/in_memory.h"
#include "convert/writer.h"
#include "diagnose/rule.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace gapless::internal {
namespace {

// Each table as text: a line per column.
using Columns = std::vector<std::string>;

Columns ColumnsOf(const Trace& trace) {
  Columns lines;
  Trace::VisitTables(trace, [&](std::string_view table, const auto& rows) {
    if (table == "environment" || table == "read_stats") return;  // what was said about the file itself
    std::decay_t<decltype(rows)>::Visit(rows, [&](std::string_view name, const auto& column) {
      std::string line = StrCat(table, ".", name, ":");
      for (const auto& cell : column) {
        using Cell = std::decay_t<decltype(cell)>;
        line += ' ';
        if constexpr (std::is_same_v<Cell, StringId>)
          line += trace.Text(cell);
        else if constexpr (std::is_enum_v<Cell>)
          line += StrCat(static_cast<int>(cell));
        else if constexpr (std::is_arithmetic_v<Cell>)
          line += StrCat(cell);
        else
          line += StrCat(cell.value);
      }
      lines.push_back(std::move(line));
    });
  });
  const TraceInfo& info = trace.info;
  lines.push_back(StrCat("info: ", info.rank, ' ', info.world_size, ' ', info.pid, ' ', info.start_unix_ns, ' ',
                         info.dur_ns, ' ', info.host, ' ', info.framework));
  return lines;
}

// Few distinct values each, so that rows meet: the same times, threads, correlations, names.
class MadeUp {
 public:
  explicit MadeUp(unsigned seed) : random_(seed) {}

  std::string Recording() {
    base_us_ = Pick<int64_t>({0, 5'131'829'390, 1'712'195'495'519'695});
    std::string text = "{\"schemaVersion\":1,";
    if (Chance(2)) text += "\"baseTimeNanoseconds\":1712275200000000000,";
    if (Chance(2)) text += StrCat("\"distributedInfo\":{\"rank\":", Below(8), ",\"world_size\":8,\"pg\":[{\"a\":1}]},");
    if (Chance(2)) text += "\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA A100\",\"numSms\":108}],";
    text += "\"host_name\":\"a\\\"b\",\"traceEvents\":[";
    const int events = 5 + Below(120);
    for (int i = 0; i < events; ++i) text += (i == 0 ? "" : ",") + Event();
    return text + "],\"traceName\":\"/x/y.json\"}";
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool Chance(int of) { return Below(of) == 0; }
  template <class T>
  T Pick(std::initializer_list<T> from) {
    return *(from.begin() + Below(static_cast<int>(from.size())));
  }
  std::string Ts() { return StrCat(base_us_ + Below(40), Pick<std::string>({"", ".5", ".001", ".999"})); }
  std::string Pid() { return Pick<std::string>({"1", "0", "7", "\"worker\"", "-3"}); }
  std::string Tid() { return Pick<std::string>({"1", "2", "7", "\"stream 7\"", "\"pool\"", "4294967297"}); }
  std::string Name() {
    return Pick<std::string>(
        {"aten::mm", "ProfilerStep#1", "ProfilerStep#2", "cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize",
         "cudaStreamWaitEvent", "cudaDeviceSynchronize", "gloo:all_reduce", "train.py(41): step", "torch/nn.py(3): f",
         "\\u0000\\u001b[31m</script>", "na\xC3\xAFve", "ncclDevKernel_AllReduce_Sum_f32", "ncclKernel_SendRecv",
         "volta_sgemm", "Memcpy HtoD (Pinned -> Device)", "\\\"quoted\\\\\\\"", ""});
  }
  std::string Maybe(std::string_view key, const std::string& value) {
    return Chance(3) ? "" : StrCat("\"", key, "\":", value, ",");
  }
  std::string Number() { return Pick<std::string>({"0", "1", "7", "42", "9007199254740993", "\"3\"", "-1"}); }
  std::string Real() { return Pick<std::string>({"0.1", "25", "1e-7", "0.333333343", "12.800000190734863", "NaN"}); }

  std::string Event() {
    switch (Below(8)) {
      case 0:
      case 1:
      case 2: return Slice();
      case 3:
      case 4: return GpuOp();
      case 5: return Chance(2) ? Sync() : Annotation();
      case 6: return Arrow();
      default: return Chance(2) ? Memory() : Counter();
    }
  }
  std::string Complete(const std::string& category, const std::string& args) {
    std::string inside = args;
    if (!inside.empty()) inside.pop_back();
    return StrCat("{\"ph\":\"X\",\"cat\":\"", category, "\",\"name\":\"", Name(), "\",\"pid\":", Pid(),
                  ",\"tid\":", Tid(), ",\"ts\":", Ts(), ",\"dur\":", Pick<std::string>({"0", "3", "10.25", "40", "-1"}),
                  ",\"args\":{", inside, "}}");
  }
  std::string Links() { return Maybe("External id", Number()) + Maybe("correlation", Number()); }
  std::string CollectiveArgs() {
    return Maybe("Collective name", Pick<std::string>({"\"allreduce\"", "\"nccl:foo\"", "\"send\"", "\"\""})) +
           Maybe("dtype", "\"Float\"") + Maybe("In msg nelems", Number()) + Maybe("Out msg nelems", "1024") +
           Maybe("Group size", "8") + Maybe("Process Group Name", Pick<std::string>({"\"0\"", "\"tp\\n\""}));
  }
  std::string Slice() {
    const auto category = Pick<std::string>({"cpu_op", "user_annotation", "python_function", "cuda_runtime",
                                             "cuda_driver", "overhead", "something", "hip_runtime", "Trace"});
    return Complete(category, Links() + Maybe("Sequence number", Number()) + Maybe("Input Dims", "[[2,3],[]]") +
                                  Maybe("Input type", "[\"float\",\"\"]") +
                                  Maybe("Concrete Inputs", "[\"\",\"1e-05\"]") +
                                  Maybe("Call stack", "\"torch/a.py(1): f;my \\\"x\\\".py(3): g\"") + CollectiveArgs());
  }
  std::string GpuOp() {
    return Complete(Pick<std::string>({"kernel", "gpu_memcpy", "gpu_memset"}),
                    Links() + Maybe("device", Pick<std::string>({"0", "1", "-1"})) + Maybe("stream", Number()) +
                        Maybe("context", "1") + Maybe("bytes", Number()) + Maybe("graph id", Number()) +
                        Maybe("registers per thread", Number()) + Maybe("shared memory", "16384") +
                        Maybe("memory bandwidth (GB/s)", Real()) + Maybe("blocks per SM", Real()) +
                        Maybe("warps per SM", Real()) + Maybe("est. achieved occupancy %", Real()) +
                        Maybe("grid", Pick<std::string>({"[8,2,1]", "[8]", "[]", "[1,-2,3]"})) +
                        Maybe("block", "[256,1,1]") + CollectiveArgs());
  }
  std::string Sync() {
    return Complete("cuda_sync", Maybe("cuda_sync_kind", Pick<std::string>({"\"Stream Sync\"", "\"Stream Wait Event\"",
                                                                            "\"Event Sync\"", "\"Context Sync\""})) +
                                     Maybe("device", "0") + Maybe("stream", Number()) + Maybe("correlation", Number()) +
                                     Maybe("wait_on_cuda_event_id", Number()));
  }
  std::string Annotation() { return Complete("gpu_user_annotation", Maybe("device", "0") + Maybe("stream", Number())); }
  std::string Arrow() {
    return StrCat("{\"ph\":\"", Pick<std::string>({"s", "f", "t"}), "\",\"cat\":\"",
                  Pick<std::string>({"ac2g", "fwdbwd", "mine"}), "\",\"name\":\"x\",\"id\":", Number(),
                  ",\"pid\":", Pid(), ",\"tid\":", Tid(), ",\"ts\":", Ts(), "}");
  }
  std::string Memory() {
    return StrCat("{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":", Pid(), ",\"tid\":", Tid(),
                  ",\"ts\":", Ts(), ",\"args\":{", Maybe("Device Id", Pick<std::string>({"0", "-1"})),
                  Maybe("Addr", "18446744073709551000"), Maybe("Total Allocated", "4096"),
                  Maybe("Device Type", Number()), "\"Bytes\":", Number(), "}}");
  }
  std::string Counter() {
    return StrCat("{\"ph\":\"C\",\"name\":\"", Name(), "\",\"pid\":", Pid(), ",\"tid\":1,\"ts\":", Ts(), ",\"args\":{",
                  Maybe("device", "0"), Maybe("value", Real()), "\"a.b\":", Number(), "}}");
  }

  std::mt19937 random_;
  int64_t base_us_ = 0;
};

class ConvertRoundTrip : public ::testing::Test {
 protected:
  Trace MustRead(std::string json) {
    MemorySource source(std::move(json));
    auto trace = ReadTrace(source, {.pool = pool_});
    EXPECT_TRUE(trace) << trace.error().ToString();
    return trace ? std::move(*trace) : Trace{};
  }
  std::string Convert(Trace trace) {
    const internal::Run run({std::make_shared<Trace>(std::move(trace))});
    Tables tables(run);
    const Advice advice(tables);
    testing::InMemory document;
    const WriteInput input{.run = run, .traces = run.primary(), .tables = &tables, .advice = &advice};
    EXPECT_TRUE(FindWriter("chrome")->write(input, document));
    return document.text();
  }
  ThreadPool pool_{2};
};

#ifdef GAPLESS_SANITIZED
constexpr unsigned kRecordings = 100;
#else
constexpr unsigned kRecordings = 400;
#endif

TEST_F(ConvertRoundTrip, WhateverWasReadReadsBackTheSame) {
  for (unsigned seed = 0; seed < kRecordings; ++seed) {
    const std::string recording = MadeUp(seed).Recording();
    Trace before = MustRead(recording);
    const Columns was = ColumnsOf(before);
    const Columns is_now = ColumnsOf(MustRead(Convert(std::move(before))));
    ASSERT_EQ(was.size(), is_now.size());
    for (size_t i = 0; i < was.size(); ++i) ASSERT_EQ(was[i], is_now[i]) << "seed " << seed << "\n" << recording;
  }
}

TEST_F(ConvertRoundTrip, ConvertingAgainChangesNothing) {
  const std::string once = Convert(MustRead(MadeUp(1).Recording()));
  const std::string twice = Convert(MustRead(once));
  const auto events = [](const std::string& text) { return text.substr(text.find("\"traceEvents\"")); };
  EXPECT_EQ(events(once), events(twice));
}

}  // namespace
}  // namespace gapless::internal
