// SPDX-License-Identifier: Apache-2.0
// Decodes a telemetry file and averages each series. It reads the format of its own instead of by ingest, which
// this room may not include. Records are found by their lengths; the first impossible length ends the reading. Of
// several devices the means are averaged, and the highest value is that of all.
#include "trial/telemetry_summary.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>
#include <vector>

#include "collect/files.h"
#include "wire/telemetry_stream.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 28;
constexpr size_t kFewestChanges = 10;  // of an energy counter
constexpr double kDoesWork = 0.05;     // mean utilisation

struct Series {
  std::string name;
  int32_t device = telemetry::kNoDevice;
  double sum = 0, highest = 0, first = 0, last = 0;
  size_t count = 0;
  // Changes of an energy counter in the window: when, and to what.
  std::vector<std::pair<int64_t, double>> changes{};
  void Add(double value) {
    if (count == 0) first = highest = value;
    sum += value, last = value, highest = std::max(highest, value), ++count;
  }
};

template <class T>
T At(std::string_view bytes, size_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

void TakeSeries(std::string_view body, std::map<uint32_t, Series>& all) {
  const auto head = At<telemetry::SeriesBody>(body, 0);
  if (sizeof head + head.name_bytes > body.size() || head.name_bytes > body.size()) return;
  all[head.series] = {.name = std::string(body.substr(sizeof head, head.name_bytes)), .device = head.device};
}

void TakeSamples(std::string_view body, size_t count, const UnixWindow& window, std::map<uint32_t, Series>& all) {
  const int64_t at_ns = At<telemetry::SamplesBody>(body, 0).unix_ns;
  const bool is_inside = at_ns >= window.begin_ns && at_ns <= window.end_ns;
  const size_t values = sizeof(telemetry::SamplesBody), numbers = values + count * sizeof(double);
  if (numbers + count * sizeof(uint32_t) > body.size()) return;
  for (size_t i = 0; i < count; ++i) {
    const auto found = all.find(At<uint32_t>(body, numbers + i * sizeof(uint32_t)));
    if (found == all.end()) continue;
    Series& series = found->second;
    const double value = At<double>(body, values + i * sizeof(double));
    if (is_inside && series.name == "gpu.energy" && series.count > 0 && value > series.last)
      series.changes.emplace_back(at_ns, value);
    series.Add(value);
  }
}

// "gpu.0.memory_bytes": "85899345920"
void TakeText(std::string_view body, TelemetrySummary& summary) {
  const auto head = At<telemetry::TextBody>(body, 0);
  if (size_t{head.key_bytes} + head.value_bytes + sizeof head > body.size()) return;
  const std::string_view key = body.substr(sizeof head, head.key_bytes);
  const std::string_view value = body.substr(sizeof head + head.key_bytes, head.value_bytes);
  double bytes = 0;
  if (!key.starts_with("gpu.") || !key.ends_with(".memory_bytes") ||
      std::from_chars(value.data(), value.data() + value.size(), bytes).ec != std::errc() || bytes <= 0)
    return;
  summary.gpu_capacity_bytes = std::min(bytes, summary.gpu_capacity_bytes.value_or(bytes));
}

// Sums up the power of the GPUs that did work. Of each it is that between the first change of its counter and the last.
std::optional<double> WattsByCounters(const std::map<uint32_t, Series>& all) {
  std::set<int32_t> idle;
  for (const auto& [number, series] : all)
    if (series.name == "gpu.utilization" && series.count > 0 &&
        series.sum < kDoesWork * static_cast<double>(series.count))
      idle.insert(series.device);
  std::optional<double> watts;
  for (const auto& [number, series] : all) {
    if (series.name != "gpu.energy" || idle.contains(series.device)) continue;
    if (series.changes.size() <= kFewestChanges) return std::nullopt;
    const auto& [first_ns, first] = series.changes.front();
    const auto& [last_ns, last] = series.changes.back();
    watts = watts.value_or(0) + (last - first) / (static_cast<double>(last_ns - first_ns) / 1e9);
  }
  return watts;
}

}  // namespace

TelemetrySummary SummarizeTelemetry(const std::string& path, const UnixWindow& window) {
  const std::string content = ContentOf(path, kMaxBytes);
  const std::string_view bytes = content;
  TelemetrySummary summary;
  const auto file = At<telemetry::FileHeader>(bytes, 0);
  if (std::memcmp(file.magic, telemetry::kMagic, sizeof file.magic) != 0 || file.version != telemetry::kVersion)
    return summary;
  std::map<uint32_t, Series> all;
  for (size_t at = file.header_bytes; at + sizeof(telemetry::RecordHeader) <= bytes.size();) {
    const auto head = At<telemetry::RecordHeader>(bytes, at);
    if (head.bytes < sizeof head || head.bytes > bytes.size() - at || head.bytes % 8 != 0) break;
    const std::string_view body = bytes.substr(at + sizeof head, head.bytes - sizeof head);
    if (head.kind == static_cast<uint16_t>(telemetry::RecordKind::kText)) TakeText(body, summary);
    if (head.kind == static_cast<uint16_t>(telemetry::RecordKind::kSeries)) TakeSeries(body, all);
    if (head.kind == static_cast<uint16_t>(telemetry::RecordKind::kSamples)) TakeSamples(body, head.count, window, all);
    at += head.bytes;
  }
  std::map<std::string, size_t> devices;
  std::set<int32_t> gpus;
  for (const auto& [number, series] : all) {
    if (series.count == 0) continue;
    if (series.device != telemetry::kNoDevice) gpus.insert(series.device);
    SeriesSummary& into = summary.series[series.name];
    const auto before = static_cast<double>(devices[series.name]++);
    const auto mix = [&](double& value, double more) { value = (value * before + more) / (before + 1); };
    mix(into.mean, series.sum / static_cast<double>(series.count));
    mix(into.first, series.first);
    mix(into.last, series.last);
    into.highest = std::max(into.highest, series.highest);
  }
  summary.gpus = gpus.size();
  summary.gpu_watts = WattsByCounters(all);
  return summary;
}

}  // namespace gapless::internal
