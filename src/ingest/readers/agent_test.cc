// SPDX-License-Identifier: Apache-2.0
// Tests the agent's reader: steps, events, counters, messages, rings, lost records, and damaged files.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "trace/marks.h"
#include "trace/run.h"
#include "wire/testing/hostile_rings.h"
#include "wire/testing/ring_file.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;
using wire::RecordKind;
using wire::RingFile;

constexpr int64_t kAgentStart = 1'700'000'000'000'000'000;

class AgentReader : public ::testing::Test {
 protected:
  Trace Read(const std::string& bytes) {
    MemorySource source(bytes, "agent-42.events");
    auto trace = ReadTrace(source, {.pool = pool_});
    EXPECT_TRUE(trace) << trace.error().ToString();
    return trace ? std::move(*trace) : Trace();
  }
  ThreadPool pool_{1};
};

std::vector<std::string_view> NamesOf(const Trace& trace, const Column<StringId>& names) {
  std::vector<std::string_view> found;
  for (size_t i = 0; i < names.size(); ++i) found.push_back(trace.Text(names[i]));
  return found;
}

TEST_F(AgentReader, StepsWithWhatIsKnownOfThem) {
  RingFile file(0);
  file.header.rank = 3;
  file.header.world_size = 8;
  file.AddStep(0, kAgentStart, 10'000, 4'000);
  file.AddStep(1, kAgentStart + 10'000, 12'000).b = -1;
  wire::RingRecord& loss = file.Add(RecordKind::kLoss, kAgentStart + 22'000);  // read when the device was done
  loss.a = 0, loss.x = 2.5;
  const Trace trace = Read(file.Bytes());
  EXPECT_EQ(trace.info.rank, 3);
  EXPECT_EQ(trace.info.world_size, 8);
  EXPECT_EQ(trace.info.pid, 42);
  EXPECT_EQ(trace.info.host, "node7");
  EXPECT_EQ(trace.info.start_unix_ns, kAgentStart);
  ASSERT_EQ(trace.steps.size(), 2U);
  EXPECT_EQ(trace.steps.source[0], StepSource::kAgent);
  EXPECT_EQ(trace.steps.dur_ns[0], 10'000);
  EXPECT_EQ(trace.steps.wait_ns[0], 4'000);
  EXPECT_EQ(trace.steps.samples[0], 16);
  EXPECT_EQ(trace.steps.loss[0], 2.5);
  EXPECT_EQ(trace.steps.samples[1], kAbsent);
  EXPECT_TRUE(std::isnan(trace.steps.loss[1]));
}

// Host time is measured by another clock than the start: ends may pass the next start by some nanoseconds.
TEST_F(AgentReader, StepsThatTouchAreAllKept) {
  RingFile file(0);
  for (int step = 0; step < 5; ++step) file.AddStep(step, kAgentStart + step * 1'000, 1'003);
  const Trace trace = Read(file.Bytes());
  ASSERT_EQ(trace.steps.size(), 5U);
  EXPECT_EQ(trace.steps.dur_ns[0], 1'000);
  EXPECT_EQ(trace.steps.dur_ns[4], 1'003);
}

TEST_F(AgentReader, WhatHappensInStepsHasTheNamesThatTheProfilerGives) {
  RingFile file(0);
  file.AddText(1, "/ckpt/last.pt");
  file.Add(RecordKind::kGc, kAgentStart, 500);
  file.Add(RecordKind::kSave, kAgentStart + 1'000, 700).a = 1;
  file.Add(RecordKind::kWait, kAgentStart + 2'000, 900);
  file.AddText(2, "train.py:12");
  file.Add(RecordKind::kEvaluation, kAgentStart + 3'000, 900).a = 2;
  const Trace trace = Read(file.Bytes());
  EXPECT_EQ(trace.Text(trace.slices.source_line[3]), "train.py:12");
  EXPECT_EQ(NamesOf(trace, trace.slices.name),
            (std::vector<std::string_view>{"Python GC", "torch.save", "wait for the next batch", kEvaluationName}));
}

TEST_F(AgentReader, WorkBesideTheTrainingHasItsCallsAndWhetherStepsWaitForIt) {
  RingFile file(0);
  file.AddText(1, "images: Image.save");
  file.AddText(2, "train.py:12");
  for (const uint16_t flags : {uint16_t{0}, wire::kInThread}) {
    wire::RingRecord& record = file.Add(RecordKind::kBeside, kAgentStart + 1'000 + flags, 900);
    record.a = 1, record.y = 2, record.value = 3, record.x = 500, record.flags = flags;
    file.Add(RecordKind::kSave, kAgentStart + 3'000 + flags, 100).flags = flags;
  }
  const Trace trace = Read(file.Bytes());
  EXPECT_EQ(
      NamesOf(trace, trace.slices.name),
      (std::vector<std::string_view>{"beside the training: images: Image.save", "in another thread: images: Image.save",
                                     "torch.save", "in another thread: checkpoint: torch.save"}));
  EXPECT_EQ(trace.Text(trace.slices.source_line[0]), "train.py:12");
  ASSERT_EQ(trace.counters.size(), 4U);
  EXPECT_EQ(trace.Text(trace.counters.name[0]), "beside the training: images: Image.save, calls");
  EXPECT_EQ(trace.counters.value[0], 3);
  EXPECT_EQ(trace.counters.value[1], 500);
}

TEST_F(AgentReader, ValuesOverTimeAreCounters) {
  RingFile file(0);
  wire::RingRecord& memory = file.Add(RecordKind::kMemory, kAgentStart);
  memory.value = 1, memory.x = 1e9, memory.y = 2e9, memory.b = 1'500'000'000;
  file.Add(RecordKind::kScale, kAgentStart).x = 65536;
  const Trace trace = Read(file.Bytes());
  ASSERT_EQ(trace.counters.size(), 4U);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(trace.counters.device[i], 1);
  EXPECT_EQ(trace.counters.value[0], 1e9);
  EXPECT_EQ(trace.Text(trace.counters.name[3]), "loss scale");
  EXPECT_EQ(trace.counters.device[3], kAbsent32);
}

TEST_F(AgentReader, MessagesOfTheAgentAreNotLost) {
  RingFile file(0);
  file.header.state = wire::AgentState::kOff;
  file.AddText(1, "a hook failed: KeyError in loader.py:12, and so this process is not watched any more");
  wire::RingRecord& message = file.Add(RecordKind::kMessage, kAgentStart);
  message.value = 2, message.a = 1;
  const Trace trace = Read(file.Bytes());
  const auto texts = NamesOf(trace, trace.read_stats.text);
  EXPECT_NE(std::find(texts.begin(), texts.end(),
                      "a hook failed: KeyError in loader.py:12, and so this process is not watched any more"),
            texts.end());
  EXPECT_NE(std::find(texts.begin(), texts.end(), "the agent switched itself off"), texts.end());
}

// The launcher died: the ring holds what it had not saved, and the saved file what the ring no longer holds.
TEST_F(AgentReader, ARingIsReadWithWhatWasSavedOfIt) {
  const std::string folder = ::testing::TempDir() + "/gapless_agent_reader";
  fs::create_directories(folder);
  RingFile ring(8), saved(0);
  for (int step = 0; step < 20; ++step) {
    ring.AddStep(step, kAgentStart + step * 100, 100);
    if (step < 15) saved.AddStep(step, kAgentStart + step * 100, 100);
  }
  std::ofstream(folder + "/agent-42.ring", std::ios::binary) << ring.Bytes();
  std::ofstream(folder + "/agent-42.events", std::ios::binary) << saved.Bytes();
  auto source = OpenFile(folder + "/agent-42.ring");
  ASSERT_TRUE(source);
  const auto trace = ReadTrace(**source, {.pool = pool_});
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->steps.size(), 20U);
  EXPECT_EQ(trace->read_stats.size(), 0U) << "nothing is lost";
  fs::remove_all(folder);
}

TEST_F(AgentReader, WhatWasOverwrittenIsCounted) {
  RingFile ring(8);
  for (int step = 0; step < 20; ++step) ring.AddStep(step, kAgentStart + step * 100, 100);
  const Trace trace = Read(ring.Bytes());
  EXPECT_EQ(trace.steps.size(), 8U);
  ASSERT_EQ(trace.read_stats.size(), 1U);
  EXPECT_EQ(trace.read_stats.count[0], 12);
}

TEST_F(AgentReader, AnotherVersionIsAnErrorThatSaysSo) {
  RingFile file(0);
  file.header.version = 9;
  MemorySource source(file.Bytes());
  const auto trace = ReadTrace(source, {.pool = pool_});
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message.find("version 9"), std::string::npos);
  EXPECT_FALSE(trace.error().hint.empty());
}

// A ring may hold anything: whatever its numbers say, what is read of it is no more than it has bytes.
TEST_F(AgentReader, RingsThatLie) {
  wire::HostileRings rings(3);
#ifdef GAPLESS_SANITIZED
  constexpr int kRounds = 1000;  // each costs ten times as much
#else
  constexpr int kRounds = 3000;
#endif
  for (int round = 0; round < kRounds; ++round) {
    const std::string bytes = rings.NextBytes();
    MemorySource source(bytes, round % 2 == 0 ? "agent-42.ring" : "agent-42.events");
    auto trace = ReadTrace(source, {.pool = pool_});
    if (!trace) continue;
    EXPECT_LE(trace->steps.size(), bytes.size() / wire::kRingRecordBytes);
    for (size_t i = 0; i < trace->read_stats.size(); ++i) EXPECT_GE(trace->read_stats.count[i], 0);
    std::vector<std::shared_ptr<const Trace>> one;
    one.push_back(std::make_shared<const Trace>(std::move(*trace)));
    EXPECT_EQ(gapless::internal::Run(std::move(one)).traces().size(), 1U);
  }
}

TEST_F(AgentReader, CountsNoMoreAsLostThanThereAreNumbers) {
  RingFile file(0);
  file.AddStep(0, kAgentStart, 10'000);
  file.AddStep(1, kAgentStart + 10'000, 10'000).number = UINT64_MAX;
  const Trace trace = Read(file.Bytes());
  ASSERT_EQ(trace.read_stats.size(), 1U);
  EXPECT_EQ(trace.read_stats.count[0], INT64_MAX);
}

}  // namespace
}  // namespace gapless::internal
