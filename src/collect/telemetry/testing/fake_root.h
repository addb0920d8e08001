// SPDX-License-Identifier: Apache-2.0
// A folder that looks like / to what reads /proc and /sys, and what a sink was given, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "collect/telemetry/collector.h"

namespace gapless::internal::testing {

class FakeRoot {
 public:
  FakeRoot() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = ::testing::TempDir() + "/root_" + info->test_suite_name() + "_" + info->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~FakeRoot() { std::filesystem::remove_all(folder_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  void Write(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(folder_ + path).parent_path());
    std::ofstream(folder_ + path) << content;
  }
  void Remove(const std::string& path) const { std::filesystem::remove_all(folder_ + path); }
  const std::string& folder() const { return folder_; }
  TelemetrySources sources() const {
    return {.proc = folder_ + "/proc",
            .sys = folder_ + "/sys",
            .nvml_library = "",
            .dcgmi = "",
            .exporter_url = "",
            .amd_smi_library = ""};
  }

 private:
  std::string folder_;
};

// The content of a sink: the latest value of each series and all texts.
struct Taken {
  std::map<std::string, double> values;  // by name, with "@device" where there is one
  std::map<std::string, std::string> units, texts;

  double operator[](const std::string& name) const {
    const auto at = values.find(name);
    EXPECT_NE(at, values.end()) << "no value of " << name;
    return at == values.end() ? 0 : at->second;
  }
  bool Has(const std::string& name) const { return values.contains(name); }
};

// Keeps what the series mean from one call to the next.
class Decoder {
 public:
  Taken Take(SampleSink& sink) {
    Taken taken;
    const std::string& bytes = sink.bytes();
    for (size_t at = 0; at + sizeof(telemetry::RecordHeader) <= bytes.size();) {
      const auto record = Read<telemetry::RecordHeader>(bytes, at);
      const size_t body = at + sizeof record;
      if (record.kind == static_cast<uint16_t>(telemetry::RecordKind::kSeries)) Series(bytes, body);
      if (record.kind == static_cast<uint16_t>(telemetry::RecordKind::kText)) Text(bytes, body, taken);
      if (record.kind == static_cast<uint16_t>(telemetry::RecordKind::kSamples))
        for (size_t i = 0; i < record.count; ++i) {
          const auto& [name, unit] = series_[Read<uint32_t>(bytes, body + 8 + record.count * size_t{8} + i * 4)];
          taken.values[name] = Read<double>(bytes, body + 8 + i * 8);
          taken.units[name] = unit;
        }
      at += record.bytes;
    }
    sink.bytes().clear();
    return taken;
  }

 private:
  template <class T>
  static T Read(const std::string& bytes, size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  }
  void Series(const std::string& bytes, size_t at) {
    const auto head = Read<telemetry::SeriesBody>(bytes, at);
    std::string name = bytes.substr(at + sizeof head, head.name_bytes);
    if (head.device != telemetry::kNoDevice) name += "@" + std::to_string(head.device);
    series_[head.series] = {name, bytes.substr(at + sizeof head + head.name_bytes, head.unit_bytes)};
  }
  static void Text(const std::string& bytes, size_t at, Taken& taken) {
    const auto head = Read<telemetry::TextBody>(bytes, at);
    taken.texts[bytes.substr(at + sizeof head, head.key_bytes)] =
        bytes.substr(at + sizeof head + head.key_bytes, head.value_bytes);
  }

  std::map<uint32_t, std::pair<std::string, std::string>> series_;
};

}  // namespace gapless::internal::testing
