// SPDX-License-Identifier: Apache-2.0
// Encodes telemetry records: series are announced once, and values of one sample are written together. A sample
// costs 12 bytes per value. Texts are cut at 4096 bytes.
#include "collect/telemetry/sink.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gapless::internal {
namespace {

using telemetry::PaddedTo8;
using telemetry::RecordHeader;
using telemetry::RecordKind;

constexpr size_t kMaxTextBytes = 4096;
constexpr size_t kMaxValues = 4096;  // in one record

template <class T>
void AppendRaw(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class Body>
void AppendTexts(std::string& out, RecordKind kind, const Body& body, std::string_view a, std::string_view b) {
  const size_t bytes = PaddedTo8(sizeof(RecordHeader) + sizeof(Body) + a.size() + b.size());
  const size_t end = out.size() + bytes;
  AppendRaw(out, RecordHeader{static_cast<uint32_t>(bytes), static_cast<uint16_t>(kind), 0});
  AppendRaw(out, body);
  out.append(a).append(b).resize(end, '\0');
}

}  // namespace

uint32_t SampleSink::Series(std::string_view name, std::string_view unit, int32_t device) {
  name = name.substr(0, kMaxTextBytes);
  const auto [at, is_new] = series_.try_emplace({std::string(name), device}, static_cast<uint32_t>(series_.size()));
  if (is_new)
    AppendTexts(bytes_, RecordKind::kSeries,
                telemetry::SeriesBody{at->second, device, static_cast<uint32_t>(name.size()),
                                      static_cast<uint32_t>(unit.size())},
                name, unit);
  return at->second;
}

void SampleSink::Value(uint32_t series, double value) {
  if (!std::isfinite(value)) return;
  pending_values_.push_back(value);
  pending_series_.push_back(series);
  if (pending_values_.size() == kMaxValues) FlushValues();
}

void SampleSink::Text(std::string_view key, std::string_view value) {
  key = key.substr(0, kMaxTextBytes), value = value.substr(0, kMaxTextBytes);
  AppendTexts(bytes_, RecordKind::kText,
              telemetry::TextBody{static_cast<uint32_t>(key.size()), static_cast<uint32_t>(value.size())}, key, value);
}

void SampleSink::EndSamples() { FlushValues(); }

// Writes all pending values, then all numbers of series: doubles stay aligned to 8 bytes.
void SampleSink::FlushValues() {
  if (pending_values_.empty()) return;
  const size_t count = pending_values_.size();
  const size_t bytes = PaddedTo8(sizeof(RecordHeader) + sizeof(telemetry::SamplesBody) + count * 12);
  const size_t end = bytes_.size() + bytes;
  AppendRaw(bytes_, RecordHeader{static_cast<uint32_t>(bytes), static_cast<uint16_t>(RecordKind::kSamples),
                                 static_cast<uint16_t>(count)});
  AppendRaw(bytes_, telemetry::SamplesBody{unix_ns_});
  bytes_.append(reinterpret_cast<const char*>(pending_values_.data()), count * sizeof(double));
  bytes_.append(reinterpret_cast<const char*>(pending_series_.data()), count * sizeof(uint32_t));
  bytes_.resize(end, '\0');
  values_ += count;
  pending_values_.clear(), pending_series_.clear();
}

void SampleSink::End() {
  AppendRaw(bytes_, RecordHeader{sizeof(RecordHeader), static_cast<uint16_t>(RecordKind::kEnd), 0});
}

std::string TelemetryFileHeader(int64_t start_unix_ns, int64_t interval_ns) {
  telemetry::FileHeader header{{}, telemetry::kVersion, sizeof(telemetry::FileHeader), start_unix_ns, interval_ns};
  std::memcpy(header.magic, telemetry::kMagic, sizeof header.magic);
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

}  // namespace gapless::internal
