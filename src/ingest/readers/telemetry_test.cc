// SPDX-License-Identifier: Apache-2.0
// A file built by hand from wire/telemetry_stream.h, record by record.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "ingest/testing/read.h"
#include "wire/telemetry_stream.h"

namespace gapless::internal {
namespace {

using testing::ReadText;

constexpr int64_t kTelemetryStart = 1'700'000'000'000'000'000;

class Stream {
 public:
  Stream() {
    telemetry::FileHeader header{{}, telemetry::kVersion, sizeof header, kTelemetryStart, 100'000'000};
    std::memcpy(header.magic, telemetry::kMagic, sizeof header.magic);
    Raw(header);
  }
  Stream& Text(const std::string& key, const std::string& value) {
    Begin(telemetry::RecordKind::kText, 0);
    Raw(telemetry::TextBody{static_cast<uint32_t>(key.size()), static_cast<uint32_t>(value.size())});
    return End(key + value);
  }
  Stream& Series(uint32_t number, int32_t device, const std::string& name, const std::string& unit) {
    Begin(telemetry::RecordKind::kSeries, 0);
    Raw(telemetry::SeriesBody{number, device, static_cast<uint32_t>(name.size()), static_cast<uint32_t>(unit.size())});
    return End(name + unit);
  }
  Stream& Samples(int64_t ts_ns, const std::vector<std::pair<uint32_t, double>>& values) {
    Begin(telemetry::RecordKind::kSamples, static_cast<uint16_t>(values.size()));
    Raw(ts_ns);
    for (const auto& [series, value] : values) Raw(value);
    for (const auto& [series, value] : values) Raw(series);
    return End("");
  }
  Stream& Record(uint16_t kind, const std::string& body) {
    Begin(static_cast<telemetry::RecordKind>(kind), 0);
    return End(body);
  }

  std::string bytes;

 private:
  template <class T>
  void Raw(const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void Begin(telemetry::RecordKind kind, uint16_t count) {
    begin_ = bytes.size();
    Raw(telemetry::RecordHeader{0, static_cast<uint16_t>(kind), count});
  }
  Stream& End(const std::string& rest) {
    bytes += rest;
    bytes.resize(telemetry::PaddedTo8(bytes.size()));
    const auto size = static_cast<uint32_t>(bytes.size() - begin_);
    std::memcpy(bytes.data() + begin_, &size, sizeof size);
    return *this;
  }
  size_t begin_ = 0;
};

int64_t Counted(const Trace& trace, std::string_view kind) {
  for (size_t i = 0; i < trace.read_stats.size(); ++i)
    if (trace.Text(trace.read_stats.kind[i]) == kind) return trace.read_stats.count[i];
  return 0;
}

Stream Whole() {
  Stream stream;
  stream.Text("host", "node7").Text("gpu.1.uuid", "GPU-9").Text("gpu.1.memory_bytes", "80000");
  stream.Series(0, telemetry::kNoDevice, "host.cpu.busy", "share").Series(1, 1, "gpu.power", "W");
  stream.Samples(kTelemetryStart + 5, {{0, 0.25}, {1, 300}}).Samples(kTelemetryStart + 105, {{1, 310}}).Record(4, "");
  return stream;
}

TEST(TelemetryReader, SamplesAreCounters) {
  const Trace trace = ReadText(Whole().bytes);
  ASSERT_EQ(trace.counters.size(), 3U);
  EXPECT_EQ(trace.Text(trace.counters.name[0]), "host.cpu.busy");
  EXPECT_EQ(trace.Text(trace.counters.unit[0]), "share");
  EXPECT_EQ(trace.counters.device[0], kAbsent32);
  EXPECT_EQ(trace.counters.device[1], 1);
  EXPECT_DOUBLE_EQ(trace.counters.value[2], 310);
  EXPECT_EQ(trace.counters.ts_ns[2] - trace.counters.ts_ns[0], 100);
  EXPECT_EQ(trace.info.start_unix_ns, kTelemetryStart + 5);
  EXPECT_EQ(trace.info.dur_ns, 100);
  EXPECT_EQ(trace.info.host, "node7");
  EXPECT_EQ(trace.info.rank, kAbsent);
  EXPECT_EQ(trace.info.event_count, 3);
  EXPECT_EQ(trace.read_stats.size(), 0U);
}

TEST(TelemetryReader, TextsAreEnvironmentAndDevices) {
  const Trace trace = ReadText(Whole().bytes);
  EXPECT_EQ(trace.environment.size(), 3U);
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices.device[0], 1);
  EXPECT_EQ(trace.Text(trace.devices.uuid[0]), "GPU-9");
  EXPECT_EQ(trace.devices.memory_bytes[0], 80000);
}

TEST(TelemetryReader, CutAnywhereWhatCameBeforeIsThere) {
  const std::string bytes = Whole().bytes;
  for (size_t size = sizeof(telemetry::FileHeader); size < bytes.size(); ++size) {
    const Trace trace = ReadText(bytes.substr(0, size));
    EXPECT_LE(trace.counters.size(), 3U);
    EXPECT_EQ(Counted(trace, "unfinished_telemetry"), 1) << size;
  }
  EXPECT_EQ(ReadText(bytes.substr(0, bytes.size() - 8)).counters.size(), 3U);
  EXPECT_EQ(ReadText(bytes.substr(0, bytes.size() - 9)).counters.size(), 2U);
}

TEST(TelemetryReader, UnknownRecordsAreSkippedAndBadOnesCounted) {
  Stream stream;
  stream.Series(0, -1, "a", "").Record(77, "from a later version");
  stream.Samples(kTelemetryStart, {{0, 1}, {9, 2}, {0, std::numeric_limits<double>::quiet_NaN()}});
  stream.Record(1, "x").Record(2, "0123456789abcdef").Record(3, "").Record(4, "");
  const Trace trace = ReadText(stream.bytes);
  EXPECT_EQ(trace.counters.size(), 1U);
  EXPECT_EQ(Counted(trace, "undefined_series"), 1);
  EXPECT_EQ(Counted(trace, "not_a_number"), 1);
  EXPECT_GE(Counted(trace, "contradictory_records"), 2);
}

TEST(TelemetryReader, ALengthThatCannotBeEndsTheReading) {
  std::string bytes = Whole().bytes;
  bytes[sizeof(telemetry::FileHeader)] = 5;
  const Trace trace = ReadText(bytes);
  EXPECT_EQ(trace.counters.size(), 0U);
  EXPECT_EQ(Counted(trace, "damaged_input"), 1);
}

TEST(TelemetryReader, AnotherVersionIsAnError) {
  std::string bytes = Whole().bytes;
  bytes[8] = 9;
  MemorySource source(bytes);
  ThreadPool pool(1);
  const auto trace = ReadTrace(source, {.pool = pool});
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message.find("version 9"), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal
