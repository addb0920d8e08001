// SPDX-License-Identifier: Apache-2.0
// Tests the flight recorder on simulated runs with stalls, pauses and profiler overhead.
#include "collect/flight_recorder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "collect/metrics.h"
#include "collect/telemetry/sink.h"
#include "wire/testing/ring_file.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kMs = 1'000'000;

// A run of `steps` steps of 10 ms, of which `change` may make something else.
class Flight : public ::testing::Test {
 protected:
  void SetUp() override {
    run_ = ::testing::TempDir() + "/gapless_flight_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(run_);
    fs::create_directories(run_ + "/main");
  }
  void TearDown() override { fs::remove_all(run_); }

  template <class Change>
  std::vector<RunEvent> Fly(int steps, const FlightOptions& options, Change change) {
    wire::RingFile ring(4096);
    int64_t now = ring.header.start_unix_ns;
    for (int step = 0; step < steps; ++step) {
      wire::RingRecord record{.number = 0,
                              .kind = wire::RecordKind::kStep,
                              .flags = 0,
                              .value = 1,
                              .ts_ns = now,
                              .dur_ns = 10 * kMs + step % 7 * 100'000,
                              .a = step,
                              .b = 16,
                              .x = 1e6,
                              .y = 0};
      change(ring, record);
      record.number = ++ring.header.written;
      ring.records.push_back(record);
      now += record.dur_ns;
    }
    std::ofstream(run_ + "/main/agent-42.ring", std::ios::binary) << ring.Bytes();
    FlightRecorder recorder(options);
    RunMetrics metrics(&recorder);
    RingKeeper rings(run_, false);
    auto control = ControlBlock::Make(run_);
    EXPECT_TRUE(control);
    std::vector<RunEvent> events;
    rings.Drain(true, [&](AgentProcess& process, const wire::RingRecord& record) {
      recorder.OnRecord(process, record);
      metrics.OnRecord(process, record);
    });
    recorder.OnTick(rings, *control, events);
    metrics.OnTick(rings, *control, events);
    metrics_ = metrics.Text();
    return events;
  }
  std::string run_, metrics_;
};

TEST_F(Flight, OneStallInFiveHundredStepsIsCaughtAndExplained) {
  const auto events = Fly(500, {}, [](wire::RingFile&, wire::RingRecord& step) {
    if (step.a == 321) step.dur_ns += 300 * kMs, step.x += 290e6;
  });
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NE(events[0].text.find("step 321 took 31"), std::string::npos) << events[0].text;
  EXPECT_NE(events[0].text.find("290.0 ms more in waiting for the next batch"), std::string::npos) << events[0].text;
  EXPECT_EQ(events[0].text.find("garbage"), std::string::npos);
  EXPECT_NE(events[0].text.find("the next 3 steps are recorded"), std::string::npos);
  auto control = ControlBlock::Open(run_);
  ASSERT_TRUE(control);
  EXPECT_EQ(*control->Post(wire::AgentCommand::kRecord, 1), 2U) << "one command was posted before";
  EXPECT_NE(metrics_.find("gapless_slow_steps_total 1\n"), std::string::npos);
}

// The launcher's sampler writes the file; a monitor that joins the run reads the same one.
TEST_F(Flight, MetricsShowTheGpusOfTheTelemetry) {
  SampleSink sink;
  sink.Text("host", "node7");
  sink.BeginSamples(1'700'000'000'000'000'000);
  sink.Value("gpu.utilization", "share", 0.25, 1);
  sink.Value("host.cpu", "share", 0.5);
  sink.EndSamples();
  sink.BeginSamples(1'700'000'000'100'000'000);
  sink.Value("gpu.utilization", "share", 0.75, 1);
  sink.EndSamples();
  std::ofstream(run_ + "/telemetry.gts", std::ios::binary) << TelemetryFileHeader(0, 1) << sink.bytes();
  Fly(3, {}, [](wire::RingFile&, wire::RingRecord&) {});
  EXPECT_NE(metrics_.find("gapless_gpu_utilization_ratio{host=\"node7\",device=\"1\"} 0.75\n"), std::string::npos)
      << metrics_;
  EXPECT_EQ(metrics_.find("gapless_gpu_power_watts"), std::string::npos) << "it was not sampled";
}

TEST_F(Flight, EvenStepsAreNoNews) {
  EXPECT_TRUE(Fly(500, {}, [](wire::RingFile&, wire::RingRecord&) {}).empty());
}

TEST_F(Flight, WhatTheProfilerSlowsDownIsNoNews) {
  EXPECT_TRUE(Fly(500, {}, [](wire::RingFile&, wire::RingRecord& step) {
                if (step.a > 300) step.dur_ns *= 5, step.flags = wire::kStepRecorded;
              }).empty());
}

TEST_F(Flight, TooFewStepsTellNothing) {
  EXPECT_TRUE(Fly(99, {}, [](wire::RingFile&, wire::RingRecord& step) {
                if (step.a == 98) step.dur_ns *= 50;
              }).empty());
}

TEST_F(Flight, CollectionsOfGarbageAndCheckpointsAreNamed) {
  const auto events = Fly(500, {}, [](wire::RingFile& ring, wire::RingRecord& step) {
    if (step.a != 400) return;
    ring.Add(wire::RecordKind::kGc, step.ts_ns, 80 * kMs);
    ring.Add(wire::RecordKind::kSave, step.ts_ns + 80 * kMs, 120 * kMs);
    step.dur_ns += 200 * kMs;
  });
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NE(events[0].text.find("120.0 ms more in saving a checkpoint, 80.0 ms more in Python's garbage collection"),
            std::string::npos)
      << events[0].text;
}

// A small hiccup before does not hide the stall.
TEST_F(Flight, WhatIsFarWorseThanTheLastOneIsToldWithoutAPause) {
  const auto events = Fly(500, {}, [](wire::RingFile&, wire::RingRecord& step) {
    if (step.a == 280) step.dur_ns += 10 * kMs;
    if (step.a == 300) step.dur_ns += 400 * kMs;
    if (step.a == 320) step.dur_ns += 300 * kMs;
  });
  ASSERT_EQ(events.size(), 2U);
  EXPECT_NE(events[1].text.find("step 300"), std::string::npos);
}

// A checkpoint every tenth step is this run's way; after a hundred pauses the recorder says no more.
TEST_F(Flight, RecordingsAreRare) {
  const auto events =
      Fly(1500, {.steps = 3, .most = 2, .pause_steps = 200}, [](wire::RingFile&, wire::RingRecord& step) {
        if (step.a > 100 && step.a % 150 == 0) step.dur_ns += 400 * kMs;
      });
  size_t recorded = 0;
  for (const RunEvent& event : events) recorded += event.text.find("are recorded") != std::string::npos;
  EXPECT_EQ(recorded, 2U);
}

TEST_F(Flight, MetricsCountWhatWasReported) {
  Fly(200, {}, [](wire::RingFile& ring, wire::RingRecord& step) {
    if (step.a == 7) ring.Add(wire::RecordKind::kLoss, step.ts_ns).x = 0.25;
    if (step.a == 9) step.flags = wire::kStepSkipped;
  });
  for (const std::string_view line :
       {"gapless_steps_total{rank=\"\",pid=\"42\"} 200\n", "gapless_samples_total{rank=\"\",pid=\"42\"} 3200\n",
        "gapless_loss{rank=\"\",pid=\"42\"} 0.25\n", "gapless_skipped_steps_total{rank=\"\",pid=\"42\"} 1\n",
        "gapless_loader_wait_seconds_total{rank=\"\",pid=\"42\"} 0.2\n",
        "gapless_step_duration_seconds_bucket{rank=\"\",pid=\"42\",le=\"0.01\"} 29\n",
        "gapless_step_duration_seconds_count{rank=\"\",pid=\"42\"} 200\n", "# TYPE gapless_steps_total counter\n"})
    EXPECT_NE(metrics_.find(line), std::string::npos) << line << metrics_;
  EXPECT_EQ(metrics_.find("gapless_loss_scale{"), std::string::npos) << "absent is absent";
}

}  // namespace
}  // namespace gapless::internal
