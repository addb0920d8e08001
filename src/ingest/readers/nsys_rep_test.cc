// SPDX-License-Identifier: Apache-2.0
// Reports that are made here, each about one thing. tests/nsys_pairs_test.py compares real ones with their exports.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "ingest/readers/nsys_rep/testing/reports.h"
#include "ingest/testing/read.h"

namespace gapless::internal {
namespace {

using nsys_rep::testing::Event;
using nsys_rep::testing::Message;
using nsys_rep::testing::Report;
using nsys_rep::testing::ThreadOf;
using nsys_rep::testing::Varint;
using nsys_rep::testing::Work;
using testing::ReadText;

Message KernelBody() {
  return Message()
      .Int(1, 2)
      .Int(2, 3)
      .Int(10, 4)
      .Int(11, 2)
      .Int(12, 1)
      .Int(13, 128)
      .Int(14, 1)
      .Int(15, 1)
      .Int(16, 1024)
      .Int(17, 2048)
      .Int(21, 90);
}
Message CallEvent(int64_t start, int64_t end, int64_t correlation, int64_t name = 1, int64_t event_class = 0,
                  int64_t pid = 100) {
  return Event(
      48, 108,
      Message().Int(1, start).Int(2, end).Int(3, correlation).Int(6, event_class).Int(7, name).Int(13, ThreadOf(pid)));
}

int64_t CountOf(const Trace& trace, std::string_view kind) {
  for (size_t i = 0; i < trace.read_stats.size(); ++i)
    if (trace.Text(trace.read_stats.kind[i]) == kind) return trace.read_stats.count[i];
  return 0;
}
std::string_view SaidOf(const Trace& trace, std::string_view kind) {
  for (size_t i = 0; i < trace.read_stats.size(); ++i)
    if (trace.Text(trace.read_stats.kind[i]) == kind) return trace.Text(trace.read_stats.text[i]);
  return "";
}

Error RefusalOf(std::string bytes) {
  MemorySource source(std::move(bytes));
  ThreadPool pool(1);
  const auto trace = ReadTrace(source, {.pool = pool});
  EXPECT_FALSE(trace);
  return trace ? Error() : trace.error();
}

TEST(NsysReport, AKernelAndItsLaunch) {
  Report report;
  report.blocks = {{CallEvent(100, 150, 9)}, {Work(200, 260, 9, 101, KernelBody())}};
  const Trace trace = ReadText(report.Bytes());
  EXPECT_EQ(trace.info.format, "nsys");
  const GpuOpTable& ops = trace.gpu_ops;
  ASSERT_EQ(ops.size(), 1U);
  EXPECT_EQ(trace.Text(ops.name[0]), "gemm");
  EXPECT_EQ(ops.kind[0], GpuOpKind::kKernel);
  EXPECT_EQ(ops.ts_ns[0], 100);
  EXPECT_EQ(ops.dur_ns[0], 60);
  EXPECT_EQ(ops.stream[0], 7);
  EXPECT_EQ(ops.context[0], 1);
  EXPECT_EQ(ops.grid_x[0], 4);
  EXPECT_EQ(ops.grid_y[0], 2);
  EXPECT_EQ(ops.block_x[0], 128);
  EXPECT_EQ(ops.registers[0], 90);
  EXPECT_EQ(ops.shared_bytes[0], 3072);
  ASSERT_TRUE(ops.launch[0].valid());
  EXPECT_EQ(trace.Text(trace.slices.name[ops.launch[0].value]), "cudaLaunchKernel");
  EXPECT_EQ(trace.slices.category[0], SliceCategory::kRuntime);
}

TEST(NsysReport, CopiesMemsetsAndGraphs) {
  Report report;
  report.blocks = {{Work(10, 20, 1, 102, Message().Int(1, 4096).Int(2, 1).Int(4, 0).Int(5, 2)),
                    Work(20, 30, 2, 102, Message().Int(1, 65536).Int(2, 12).Int(10, 2)),
                    Work(30, 40, 3, 103, Message().Int(1, 512).Int(4, 2)), Work(40, 90, 4, 107, Message().Int(1, 77)),
                    Work(0, 0, 5, 106, Message().Int(1, 3))}};
  const Trace trace = ReadText(report.Bytes());
  const GpuOpTable& ops = trace.gpu_ops;
  ASSERT_EQ(ops.size(), 4U) << "the recording of an event is no work";
  EXPECT_EQ(trace.Text(ops.name[0]), "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(ops.copy_kind[0], CopyKind::kHtoDPageable);
  EXPECT_EQ(ops.bytes[0], 4096);
  EXPECT_EQ(trace.Text(ops.name[1]), "Memcpy DtoH");
  EXPECT_EQ(ops.copy_kind[1], CopyKind::kDtoHManaged);
  EXPECT_EQ(trace.Text(ops.name[2]), "Memset (Device)");
  EXPECT_EQ(ops.kind[2], GpuOpKind::kMemset);
  EXPECT_EQ(ops.bytes[2], 512);
  EXPECT_EQ(trace.Text(ops.name[3]), "CUDA graph");
  EXPECT_EQ(ops.graph_id[3], 77);
  EXPECT_EQ(CountOf(trace, "gpu_ops_without_time"), 0);
}

TEST(NsysReport, RangesAndWhatIsNone) {
  Report report;
  const auto body = [](int64_t type) { return Message().Int(1, type).Int(2, 10).Int(9, ThreadOf(100)); };
  report.blocks = {{Event(59, 102, body(59).Int(10, 50).Text(7, "aten::mm, op_id = 7, seq = 3, sizes = [[2, 3]]")),
                    Event(59, 102, body(59).Int(10, 60).Int(12, 2)),
                    Event(60, 102, body(60).Int(10, 70).Text(7, "epoch")),
                    Event(59, 102, body(59).Text(7, "never ends")), Event(34, 102, body(34).Text(7, "a mark")),
                    Event(75, 102, body(75).Text(7, "a domain"))}};
  const Trace trace = ReadText(report.Bytes());
  ASSERT_EQ(trace.slices.size(), 3U);
  EXPECT_EQ(CountOf(trace, "open_ranges"), 1);
  EXPECT_EQ(CountOf(trace, "other_nvtx"), 2);
  for (size_t row = 0; row < 3; ++row) {
    const std::string_view name = trace.Text(trace.slices.name[row]);
    if (name == "aten::mm") {
      EXPECT_EQ(trace.slices.category[row], SliceCategory::kOperator);
      EXPECT_EQ(trace.slices.sequence[row], 3);
      EXPECT_EQ(trace.Text(trace.slices.input_shapes[row]), "[[2, 3]]");
    } else {
      EXPECT_EQ(trace.slices.category[row], SliceCategory::kAnnotation);
      EXPECT_TRUE(name == "gemm" || name == "epoch") << name;  // a registered string, and one of its own
      EXPECT_EQ(trace.threads.tid[trace.slices.thread[row].value], name == "epoch" ? -1 : 100);
    }
  }
}

TEST(NsysReport, CallsByTheirClass) {
  Report report;
  report.blocks = {{CallEvent(10, 20, 1, 1, 0), CallEvent(20, 30, 2, 1, 1), CallEvent(30, 40, 0, 2, 3),
                    CallEvent(40, 50, 0, 2, 27), CallEvent(50, 60, 0, 2, 67), CallEvent(50, 60, 0, 2, 8),
                    Event(41, 106, Message().Int(1, 5)), Event(31, 104, Message().Int(1, 5)),
                    Event(117, 123, Message().Int(1, 5))}};
  const Trace trace = ReadText(report.Bytes());
  ASSERT_EQ(trace.slices.size(), 3U);
  EXPECT_EQ(trace.slices.category[0], SliceCategory::kRuntime);
  EXPECT_EQ(trace.slices.category[1], SliceCategory::kDriver);
  EXPECT_EQ(trace.slices.category[2], SliceCategory::kOverhead);
  EXPECT_EQ(CountOf(trace, "tables_left_out"), 3);
  EXPECT_EQ(SaidOf(trace, "tables_left_out"),
            "rows of tables that are not read: COMPOSITE_EVENTS without a stack, calls of class 67, events of "
            "kind 117 in field 123");
  ASSERT_EQ(trace.os_calls.size(), 1U);
  EXPECT_EQ(trace.os_calls.dur_ns[0], 10);
  EXPECT_EQ(trace.os_calls.tid[0], 100);
  EXPECT_EQ(CountOf(trace, "bad_times"), 1) << "a switch of nobody";
}

// The meaning of a number depends on the version, and newer ones write it into another field.
TEST(NsysReport, SynchronisationsInThreeNumberings) {
  using enum SyncKind;
  const struct {
    std::string_view version;
    int field;
    std::vector<std::pair<int64_t, SyncKind>> kinds;
  } kCases[] = {{"2022.4.2.50", 2, {{1, kDevice}, {2, kEvent}, {3, kStream}}},
                {"2024.1.1.59", 2, {{1, kDevice}, {2, kEvent}, {3, kStream}}},
                {"2024.5.1.113", 2, {{0, kDevice}, {1, kEvent}, {2, kStream}}},
                {"2024.6.2.225", 2, {{0, kDevice}, {1, kEvent}, {2, kStream}}},
                {"2025.1.3.140", 4, {{1, kEvent}, {2, kStreamWait}, {3, kStream}, {4, kDevice}}},
                {"2026.2.1.210", 4, {{1, kEvent}, {2, kStreamWait}, {3, kStream}, {4, kDevice}}}};
  for (const auto& [version, field, kinds] : kCases)
    for (const auto& [number, kind] : kinds) {
      Report report;
      report.version = version;
      report.blocks = {{Work(10, 20, 1, 105, Message().Int(1, 5).Int(static_cast<uint64_t>(field), number))}};
      const Trace trace = ReadText(report.Bytes());
      ASSERT_EQ(trace.syncs.size(), 1U) << version << " " << number;
      EXPECT_EQ(trace.syncs.kind[0], kind) << version << " " << number;
      EXPECT_EQ(trace.syncs.event[0], 5);
      EXPECT_EQ(trace.syncs.stream[0], 7);
    }
}

TEST(NsysReport, TheNameOfTheCallCountsBeforeTheNumber) {
  Report report;
  report.version = "2025.1.1.110";
  report.texts[1] = "cudaStreamSynchronize_v3020";
  report.blocks = {{CallEvent(10, 30, 6), Work(12, 28, 6, 105, Message().Int(4, 2))}};  // the number says stream_wait
  const Trace trace = ReadText(report.Bytes());
  ASSERT_EQ(trace.syncs.size(), 1U);
  EXPECT_EQ(trace.syncs.kind[0], SyncKind::kStream);
}

// UTC of the session's 0 by one to three offsets, written signed or unsigned.
TEST(NsysReport, WhenItBegan) {
  constexpr int64_t kStart = 1'700'000'000'000'000'000;
  const auto clock = [](int64_t from, int64_t to, const std::string& offset) {
    return Message().Int(1, from).Int(2, to).Text(5, offset);
  };
  const auto start_of = [](const Message& session, const Message& conversions) {
    Report report;
    report.session = session, report.conversions = conversions;
    report.blocks = {{CallEvent(100, 150, 9)}};
    return ReadText(report.Bytes()).info.start_unix_ns;
  };
  Message one, three, none;
  one.Add(16, Message().Add(1, clock(3, 9, std::to_string(-kStart))));
  EXPECT_EQ(start_of(one, {}), kStart + 100);
  three.Add(16, Message()
                    .Add(1, clock(7, 1, "5000"))
                    .Add(1, clock(1, 3, "18446744073709551611"))  // −5
                    .Add(1, clock(3, 9, std::to_string(static_cast<uint64_t>(-kStart)))));
  EXPECT_EQ(start_of(three, {}), kStart + 100 - 5000 + 5);
  none.Add(16, Message().Add(1, clock(3, 9, "no number")));
  EXPECT_EQ(start_of(none, {}), kAbsent);
  const auto edge = [](std::string_view from, std::string_view to, int64_t a, int64_t b) {
    return Message().Text(1, from).Text(2, to).Add(3, Message().Add(1, Message().Int(1, a).Int(2, b)));
  };
  Message clocks, edges, both;
  clocks.Add(1, Message().Text(1, "utc").Int(2, 11))
      .Add(1, Message().Text(1, "session").Int(2, 15))
      .Add(1, Message().Text(1, "recorder").Int(2, 14));
  edges.Add(1, edge("utc", "recorder", kStart, 700)).Add(1, edge("session", "recorder", 900, 0));
  both.Add(1, clocks).Add(2, edges);
  EXPECT_EQ(start_of({}, both), kStart + 900 - 700 + 100);
}

TEST(NsysReport, HostProcessesThreadsAndGpus) {
  Report report;
  report.texts.push_back("main thread");
  report.session.Add(1, Message().Add(2, Message().Add(1, Message().Int(1, 619).Text(2, "node1"))));
  report.threads.Add(1, Message().Int(2, 4).Int(4, ThreadOf(100)));
  report.target.Add(1, Message().Add(2, Message()
                                            .Add(7, Message()
                                                        .Int(1, 3)
                                                        .Text(2, "Made-up")
                                                        .Text(3, "0:1")
                                                        .Text(5, "id")
                                                        .Int(11, 1 << 30)
                                                        .Int(13, 2'000'000'000)
                                                        .Int(14, 132)
                                                        .Int(30, 32)
                                                        .Int(32, 64)
                                                        .Int(41, 9)
                                                        .Int(42, 0))
                                            .Add(9, Message().Int(1, 3).Int(2, 0).Int(3, 100))));
  report.blocks = {{Event(27, 113, Message().Int(2, ThreadOf(100)).Text(5, "sh")),
                    Event(27, 113, Message().Int(2, ThreadOf(100)).Text(5, "sh").Text(6, "python3")),
                    CallEvent(1, 2, 9), Work(5, 9, 9, 101, KernelBody())}};
  const Trace trace = ReadText(report.Bytes());
  EXPECT_EQ(trace.info.host, "node1");
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices.device[0], 3);
  EXPECT_EQ(trace.gpu_ops.device[0], 3) << "the GPU of the host, not the process's device 0";
  EXPECT_EQ(trace.devices.sm_count[0], 132);
  EXPECT_EQ(trace.devices.max_threads_per_sm[0], 2048);
  EXPECT_EQ(trace.devices.clock_khz[0], 2'000'000);
  EXPECT_EQ(trace.devices.compute_major[0], 9);
  ASSERT_EQ(trace.threads.size(), 1U);
  EXPECT_EQ(trace.Text(trace.threads.name[0]), "main thread");
  EXPECT_EQ(trace.Text(trace.threads.process_name[0]), "python3");
}

// A description of 2020: what CUDA said in a process, of the GPU at the same place on the bus.
TEST(NsysReport, GpusOf2020) {
  Report report;
  report.target.Add(
      1, Message().Add(2, Message()
                              .Add(7, Message().Int(1, 5).Text(2, "Old").Text(3, "0000:02:00.0").Text(5, "id"))
                              .Add(1, Message()
                                          .Text(1, "Old")
                                          .Int(3, 1 << 30)
                                          .Int(6, 32)
                                          .Int(7, 1'740'000)
                                          .Int(9, 68)
                                          .Int(11, 48)
                                          .Int(22, 8)
                                          .Int(23, 6)
                                          .Int(24, 0)
                                          .Int(25, 100)
                                          .Text(26, "0000:02:00.0"))));
  report.blocks = {{Work(5, 9, 9, 101, KernelBody())}};
  const Trace trace = ReadText(report.Bytes());
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices.device[0], 5);
  EXPECT_EQ(trace.gpu_ops.device[0], 5);
  EXPECT_EQ(trace.devices.clock_khz[0], 1'740'000);
  EXPECT_EQ(trace.devices.sm_count[0], 68);
  EXPECT_EQ(trace.Text(trace.devices.uuid[0]), "id");
}

TEST(NsysReport, MetricsAreCounters) {
  Report report;
  report.texts = {"", "GPC Clock Frequency", "SM Active"};
  const auto field = [](int64_t name, int64_t offset, int64_t bytes) {
    return Message().Int(1, name).Int(2, offset).Int(3, bytes);
  };
  report.layouts = {Message().Int(1, 0x101).Add(3, field(1, 0, 4)).Add(3, field(2, 4, 1))};
  const auto sample = [](int64_t time, std::string_view record) {
    return Message().Int(1, 0x101).Int(2, time).Text(3, record);
  };
  report.generic = {sample(-50, std::string_view("\1\0\0\0\1", 5)), sample(70, std::string_view("\0\1\0\0\125", 5)),
                    sample(80, "xy"), Message().Int(1, 999).Int(2, 90).Text(3, "?")};
  report.blocks = {{CallEvent(10, 20, 1)}};
  const Trace trace = ReadText(report.Bytes());
  ASSERT_EQ(trace.counters.size(), 2U);
  EXPECT_EQ(trace.Text(trace.counters.name[0]), "GPC Clock Frequency");
  EXPECT_EQ(trace.counters.value[0], 256);
  EXPECT_EQ(trace.counters.device[0], 1);
  EXPECT_EQ(trace.counters.ts_ns[0], 60);
  EXPECT_EQ(trace.Text(trace.counters.name[1]), "SM Active");
  EXPECT_EQ(trace.counters.value[1], 85);
  EXPECT_EQ(CountOf(trace, "damaged_events"), 1) << "the record that is too short";
  EXPECT_EQ(CountOf(trace, "bad_times"), 2) << "a sample from before the start";
  EXPECT_EQ(CountOf(trace, "tables_left_out"), 1) << "a type without a description";
}

TEST(NsysReport, WhatNsysSaysIsPassedOn) {
  Report report;
  const auto said = [](int64_t severity, std::string_view text) {
    return Event(49, 110, Message().Int(3, severity).Text(4, text));
  };
  report.blocks = {{said(2, "No CUDA events collected. Does the process use CUDA?"), said(1, "Profiling has started."),
                    said(2,
                         "No OpenGL events collected.\n"
                         "Does the process use OpenGL?")}};
  const Trace trace = ReadText(report.Bytes());
  EXPECT_EQ(SaidOf(trace, "no_cuda_events"), "nsys says: No CUDA events collected. Does the process use CUDA?");
  EXPECT_EQ(SaidOf(trace, "nsys_warnings"), "nsys says: No OpenGL events collected. Does the process use OpenGL?");
  EXPECT_EQ(CountOf(trace, "nsys_warnings"), 1);
}

// Environments of processes are among the texts.
TEST(NsysReport, ATextThatNoRowRefersToIsNotKept) {
  std::ifstream in("tests/data/nsys_two_processes.nsys-rep", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  ASSERT_NE(bytes.find("API_TOKEN"), std::string::npos) << "run from the project's folder";
  const Trace trace = ReadText(bytes);
  ASSERT_EQ(trace.gpu_ops.size(), 6U);
  for (uint32_t id = 0; id < trace.strings.size(); ++id)
    EXPECT_EQ(trace.Text(StringId(id)).find("API_TOKEN"), std::string_view::npos);
}

TEST(NsysReport, ADamagedEventCostsItselfOnly) {
  Report report;
  const Message torn = Message().Int(1, 79).Text(107, "\x0A\x7Fno");  // a text longer than its message
  report.blocks = {{CallEvent(100, 150, 9), torn, Work(200, 260, 9, 101, KernelBody())}};
  const Trace trace = ReadText(report.Bytes());
  EXPECT_EQ(trace.gpu_ops.size(), 1U);
  EXPECT_EQ(trace.slices.size(), 1U);
  EXPECT_EQ(CountOf(trace, "damaged_events"), 1);
}

TEST(NsysReport, TheIndexIsHeldAgainstWhatIsThere) {
  Report report;
  report.blocks = {{CallEvent(100, 150, 9)}};
  EXPECT_EQ(CountOf(ReadText(report.Bytes()), "index_differs"), 0);
  report.events_more = 2;
  EXPECT_EQ(SaidOf(ReadText(report.Bytes()), "index_differs"),
            "the index of the report counts 3 events, and 1 were found");
}

// Processes with the same correlation ids, which nothing announces: one a block, so that no thread meets all.
TEST(NsysReport, IsReadAlikeByAnyNumberOfThreads) {
  Report report;
  for (int64_t block = 0; block < 600; ++block) {
    report.blocks.emplace_back();
    for (int64_t i = 0; i < 5; ++i) {
      const int64_t at = 1000 * (block + 1) + 20 * i, id = i;
      report.blocks.back().push_back(CallEvent(at, at + 10, id, 1, 0, 100 + block));
      report.blocks.back().push_back(Work(at + 12, at + 18, id, 101, KernelBody(), 100 + block));
    }
  }
  MemorySource source(report.Bytes());
  ThreadPool one(1), many(5);
  const auto a = ReadTrace(source, {.pool = one}), b = ReadTrace(source, {.pool = many});
  ASSERT_TRUE(a && b);
  ASSERT_EQ(a->gpu_ops.size(), 3000U);
  for (size_t row = 0; row < b->gpu_ops.size(); ++row) {
    ASSERT_TRUE(b->gpu_ops.launch[row].valid());
    ASSERT_EQ(b->slices.ts_ns[b->gpu_ops.launch[row].value] + 12, b->gpu_ops.ts_ns[row]) << "of another process";
  }
  EXPECT_TRUE(std::equal(a->gpu_ops.correlation.begin(), a->gpu_ops.correlation.end(), b->gpu_ops.correlation.begin()));
  EXPECT_TRUE(std::equal(a->gpu_ops.launch.begin(), a->gpu_ops.launch.end(), b->gpu_ops.launch.begin()));
  EXPECT_TRUE(
      std::equal(a->slices.ts_ns.begin(), a->slices.ts_ns.end(), b->slices.ts_ns.begin(), b->slices.ts_ns.end()));
}

#ifdef GAPLESS_SANITIZED
constexpr int kDamagedCopies = 400;  // each costs ten times as much
#else
constexpr int kDamagedCopies = 10'000;
#endif

// Bytes are changed, not moved, so that most copies get past the lengths of the container and damage events.
TEST(NsysReport, DamagedCopiesAreReadOrRefused) {
  std::ifstream in("tests/data/nsys_two_processes.nsys-rep", std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  ASSERT_FALSE(good.empty()) << "run from the project's folder";
  std::mt19937 random(54);
  ThreadPool pool(1);
  int read = 0;
  for (int copy = 0; copy < kDamagedCopies; ++copy) {
    std::string bytes = good;
    for (unsigned edit = 0; edit <= random() % 4; ++edit)
      bytes[64 + random() % (bytes.size() - 80)] = static_cast<char>(random());
    MemorySource source(std::move(bytes));
    const auto trace = ReadTrace(source, {.pool = pool});
    read += trace ? 1 : 0;
    if (trace) continue;
    EXPECT_FALSE(trace.error().message.empty());
    EXPECT_FALSE(trace.error().hint.empty()) << trace.error().message;
  }
  EXPECT_GT(read, kDamagedCopies / 4) << "most damage should cost events, not the report";
  EXPECT_LT(read, kDamagedCopies);
}

TEST(NsysReportRefused, WithTheReason) {
  Report report;
  report.blocks = {{CallEvent(100, 150, 9)}};
  const std::string good = report.Bytes();
  const auto expect = [](const std::string& bytes, std::string_view why) {
    const Error error = RefusalOf(bytes);
    EXPECT_NE(error.message.find(why), std::string::npos) << error.message << "\nwanted: " << why;
    EXPECT_NE(error.hint.find("nsys export --type sqlite"), std::string::npos) << error.hint;
  };
  expect(good.substr(0, good.size() - 1), "it was cut off");
  Report codec = report;
  codec.codec = "zstd";
  expect(codec.Bytes(), "compressed by zstd");
  Report magic = report;
  magic.magic = "QDTEXT01";
  expect(magic.Bytes(), "QDTEXT01");
  std::string directory = good;
  directory[good.size() - 10] = '\x7F';
  expect(directory, "its directory is not where its end says");
  std::string without = good;
  without.replace(without.rfind("Raw Sampling"), 12, "Raw sampling");
  expect(without, "no section Raw Sampling Data");
}

TEST(NsysReportRefused, BlocksThatLie) {
  const auto error_of = [](const std::string& block) {
    Report report;
    report.blocks = {{CallEvent(100, 150, 9)}};
    report.raw = {block};
    return RefusalOf(report.Bytes()).message;
  };
  const auto has = [](const std::string& message, std::string_view part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  has(error_of(Varint(uint64_t{1} << 40) + Varint(5) + "x"), "longer than its section");
  has(error_of(Varint(4) + Varint(uint64_t{1} << 40) + "abcd"), "says that it unpacks to 1099511627776 bytes");
  has(error_of(Varint(4) + Varint(2000) + "abcd"),
      "says that it unpacks to 2000 bytes");                                // LZ4 gives 255 of one at most
  has(error_of(Varint(4) + Varint(100) + "abcd"), "is damaged");            // no LZ4
  const std::string plain = nsys_rep::testing::Literals("\x09 too short");  // the message is longer than the block
  has(error_of(Varint(plain.size()) + Varint(11) + plain), "is damaged");
}

// A bomb: megabytes of zeros out of a few kilobytes are within what LZ4 may do, and are refused by their size alone.
TEST(NsysReportRefused, ABlockOfManyMegabytes) {
  Report report;
  const std::string packed(400'000, '\xFF');
  report.raw = {Varint(packed.size()) + Varint(uint64_t{100} << 20) + packed};
  EXPECT_NE(RefusalOf(report.Bytes()).message.find("unpacks to 104857600 bytes"), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal
