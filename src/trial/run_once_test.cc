// SPDX-License-Identifier: Apache-2.0
// Measurements of one process: of shells, which no agent is in, and of a script that plays the agent.
#include "trial/run_once.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "wire/testing/hostile_rings.h"

namespace gapless::internal {
namespace {

RunRequest Shell(const std::string& script) { return {.command = {"/bin/sh", "-c", script}, .telemetry_hz = 0}; }

TEST(RunOnce, WholeProcess) {
  const auto sample = RunOnce(Shell("sleep 0.2; echo done; exit 3"));
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->source, SampleSource::kProcess);
  EXPECT_EQ(sample->exit_status, 3);
  EXPECT_FALSE(Succeeded(*sample));
  EXPECT_EQ(sample->output_tail, "done\n");
  ASSERT_TRUE(TypicalValue(*sample));
  EXPECT_GE(*TypicalValue(*sample), 200);
  EXPECT_LT(*TypicalValue(*sample), 2000);
}

TEST(RunOnce, NumbersThatArePrinted) {
  RunRequest request = Shell("for i in 9 8 1 2 3 x; do echo step took $i.5 ms; done");
  request.warmup = 2;
  request.pattern = "took ([0-9.]+) ms";
  const auto sample = RunOnce(request);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->source, SampleSource::kPattern);
  EXPECT_EQ(sample->values, (std::vector<double>{1.5, 2.5, 3.5}));
  EXPECT_EQ(TypicalValue(*sample), 2.5);
  request.pattern = "(";
  const auto bad = RunOnce(request);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::kUsage);
}

// No output of a program ends the reader or takes more than linear time.
TEST(RunOnce, PatternsMeetWhateverIsPrinted) {
  const std::string long_line = "head -c 400000 /dev/zero | tr '\\0' a; echo; echo took 5 ms";
  const std::string longer = "head -c 10000000 /dev/zero | tr '\\0' a; echo; echo took 5 ms";
  const std::string binary = "head -c 300000 /dev/urandom; printf '\\377\\300\\200\\0'; echo; echo took 5 ms";
  for (const std::string& script : {long_line, longer, binary}) {
    RunRequest request = Shell(script);
    request.pattern = "^took ([0-9.]+) ms$";
    request.metric = "(a+)+$|(?:.*)ms";
    const auto begun = std::chrono::steady_clock::now();
    const auto sample = RunOnce(request);
    ASSERT_TRUE(sample) << sample.error().ToString();
    EXPECT_EQ(sample->values, (std::vector<double>{5})) << script;
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20)) << script;
  }
}

TEST(RunOnce, APatternMayNotTakeLongerThanItsText) {
  RunRequest request = Shell("echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab; echo 7");
  request.pattern = "(a+)+$|^([0-9])$";
  const auto begun = std::chrono::steady_clock::now();
  ASSERT_TRUE(RunOnce(request));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
}

TEST(RunOnce, AsksForEveryLoss) {  // what compares two runs holds them against each other, step by step
  const auto sample = RunOnce(Shell("echo \"$GAPLESS_OPTIONS\""));
  ASSERT_TRUE(sample);
  EXPECT_NE(sample->output_tail.find("\"every_loss\": true"), std::string::npos) << sample->output_tail;
}

TEST(RunOnce, TimeIsUp) {
  RunRequest request = Shell("sleep 60 & sleep 60; wait");
  request.timeout_s = 0.3;
  const auto sample = RunOnce(request);
  ASSERT_TRUE(sample);
  EXPECT_TRUE(sample->timed_out);
  EXPECT_FALSE(Succeeded(*sample));
  EXPECT_LT(sample->wall_ns, 10'000'000'000);
}

TEST(RunOnce, NoSuchCommand) {
  const auto sample = RunOnce({.command = {"/nowhere/at-all"}, .telemetry_hz = 0});
  ASSERT_FALSE(sample);
  EXPECT_EQ(sample.error().code, ErrorCode::kCommand);
}

TEST(RunOnce, LeavesNothingBehindUnlessAsked) {
  const std::string folder = ::testing::TempDir() + "/gapless_trial_kept";
  std::filesystem::remove_all(folder);
  RunRequest request = Shell("sleep 0.5");
  request.folder = folder;
  request.telemetry_hz = 10;
  const auto sample = RunOnce(request);
  ASSERT_TRUE(sample);
  EXPECT_TRUE(std::filesystem::exists(folder + "/manifest.json"));
  EXPECT_FALSE(std::filesystem::exists(folder + ".output"));
  EXPECT_TRUE(sample->telemetry.contains("host.cpu.busy"));
  std::filesystem::remove_all(folder);
}

// A shell that puts a ring into its run, whole from the start, as an agent does. Tests run side by side: each has a
// file of its own.
RunRequest Telling(const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "/gapless_trial_ring_" + std::to_string(::getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  RunRequest request = Shell("cd \"$GAPLESS_RUN\" && mkdir main && cp '" + path +
                             "' ring && mv ring main/agent-42.ring; rm '" + path + "'; sleep 0.1");
  request.warmup = 1;
  request.to_the_end = true;
  return request;
}

TEST(RunOnce, LossesAreOfStepsThatWereTaken) {
  wire::RingFile ring(64);
  ring.header.state = wire::AgentState::kEnded;
  for (int step = 0; step < 4; ++step) {
    wire::RingRecord& loss = ring.Add(wire::RecordKind::kLoss, 100 + step);
    loss.a = step, loss.x = 0.5 * step;
    ring.AddStep(step, 100 + step, 1);
  }
  wire::RingRecord& lie = ring.Add(wire::RecordKind::kLoss, 104);
  lie.a = int64_t{1} << 60, lie.x = 1;  // no list is that long
  const auto sample = RunOnce(Telling(ring.Bytes()));
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->losses, (std::vector<double>{0, 0.5, 1, 1.5}));
}

// Why nothing was measured stands in the error of what was asked for.
TEST(RunOnce, WhatTheAgentSaysWentWrongIsKept) {
  wire::RingFile ring(64);
  ring.header.state = wire::AgentState::kEnded;
  ring.AddText(1, "Gapless no longer watches where steps end");
  ring.AddText(2, "a note");
  wire::RingRecord& error = ring.Add(wire::RecordKind::kMessage, 100);
  error.value = 2, error.a = 1;
  wire::RingRecord& note = ring.Add(wire::RecordKind::kMessage, 101);
  note.value = 0, note.a = 2;
  const auto sample = RunOnce(Telling(ring.Bytes()));
  ASSERT_TRUE(sample);
  EXPECT_EQ(AgentWords(*sample), "\nthe agent said: Gapless no longer watches where steps end");
}

TEST(RunOnce, RingsThatLie) {
  wire::HostileRings rings(7);
  for (int round = 0; round < 30; ++round) {
    const auto sample = RunOnce(Telling(rings.NextBytes()));
    ASSERT_TRUE(sample);
    EXPECT_LT(sample->losses.size(), size_t{1} << 20);
  }
}

}  // namespace
}  // namespace gapless::internal
