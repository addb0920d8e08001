// SPDX-License-Identifier: Apache-2.0
#include "ingest/readers/gpu_samples/sink.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/strings.h"
#include "base/timestamp.h"

namespace gapless::internal::gpu_samples {
namespace {

constexpr int64_t kSampleSecondNs = 1'000'000'000;

std::string_view Bare(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\"");
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t\r\"") - first + 1);
}

// Seconds since a moment that is not known, "12.5", or the time of a day without the day, "14:03:21".
std::optional<double> RelativeSeconds(std::string_view text) {
  double total = 0;
  const std::vector<std::string_view> parts = Split(text, ':');
  if (parts.size() != 1 && parts.size() != 3) return std::nullopt;
  for (const std::string_view part : parts) {
    double value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || !(value >= 0 && value < 4e9)) return std::nullopt;
    total = total * 60 + value;
  }
  return total;
}

}  // namespace

std::optional<int64_t> ParseCtime(std::string_view text) {
  constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(Bare(text), ' '))
    if (!word.empty()) words.push_back(word);
  if (words.size() != 5 || words[0].size() != 3 || words[3].size() != 8) return std::nullopt;
  const auto* const month = std::ranges::find(kMonths, words[1]);
  if (month == std::end(kMonths)) return std::nullopt;
  return ParseLoggedTime(StrCat(words[4], "/", month - std::begin(kMonths) + 1, "/", words[2], " ", words[3]));
}

void SampleSink::Add(std::string_view series, std::string_view unit, int32_t device, int64_t ts_ns, double value) {
  DeviceRow& described = devices_[device];
  described.device = device, described.vendor = vendor_;
  shard_.Add(CounterRow{
      .name = shard_.Text(series), .unit = shard_.Text(unit), .device = device, .ts_ns = ts_ns, .value = value});
  ++samples_;
}

void SampleSink::AddCell(const Column& column, std::string_view cell, int32_t device, int64_t ts_ns) {
  DeviceRow& described = devices_[device];
  described.device = device, described.vendor = vendor_;
  switch (column.kind) {
    case Column::Kind::kDeviceName: described.name = std::string(Bare(cell)); break;
    case Column::Kind::kUuid: described.uuid = std::string(Bare(cell)); break;
    case Column::Kind::kMemoryTotal:
      if (const auto value = ValueOf(cell, column); value && *value > 0 && *value < 1e15)
        described.memory_bytes = static_cast<int64_t>(*value);
      break;
    case Column::Kind::kThrottleMask:
      if (const auto mask = MaskOf(cell))
        for (const ThrottleReason& reason : kThrottleReasons)
          Add(StrCat("gpu.throttle.", reason.name), "flag", device, ts_ns, (*mask & reason.bit) != 0 ? 1 : 0);
      break;
    case Column::Kind::kValue:
      if (const auto value = ValueOf(cell, column); value && of_row_.insert(column.series).second)
        Add(column.series, column.unit, device, ts_ns, *value);
      break;
    default: break;
  }
}

int32_t SampleSink::DeviceOf(const std::string& key, int32_t wanted) {
  if (const auto known = keys_.find(key); known != keys_.end()) return known->second;
  const auto taken = [&](int32_t number) {
    return std::ranges::any_of(keys_, [&](const auto& entry) { return entry.second == number; });
  };
  int32_t number = std::max(wanted, 0);
  if (taken(number))
    for (number = 0; taken(number);) ++number;
  return keys_[key] = number;
}

int64_t SampleSink::NextMoment(int32_t device) {
  if (last_time_ == kAbsent) timeless_ = true;
  return (last_time_ == kAbsent ? 0 : last_time_) + rows_[device]++ * kSampleSecondNs;
}

std::optional<int64_t> SampleSink::TimeIn(std::string_view cell) {
  const std::string text(Bare(cell));
  auto time = ParseLoggedTime(text);
  if (!time) time = ParseCtime(text);
  if (!time) {
    const auto seconds = RelativeSeconds(text);
    if (!seconds) return std::nullopt;
    relative_ = true;
    time = std::llround(*seconds * 1e9);
  }
  return time;
}

void SampleSink::Finish() {
  for (auto& [number, device] : devices_) builder_.AddDevice(std::move(device));
  builder_.info().event_count = samples_;
  builder_.Count("contradictory_rows", Severity::kLoss, contradictory_, kAbsent,
                 "rows with another number of fields than their header, or without a device or a time, were left out");
  if (timeless_)
    builder_.Count("no_clock", Severity::kInfo, 1, kAbsent,
                   "the file has no times: a second is assumed between the samples of a GPU");
  else if (relative_)
    builder_.Count("no_clock", Severity::kInfo, 1, kAbsent,
                   "the times of the file count from a moment that it does not tell");
  if (unread_.empty()) return;
  constexpr size_t kMostNames = 12;
  std::vector<std::string> names;
  for (const auto& [name, count] : unread_)
    if (names.size() < kMostNames) names.push_back(Printable(name));
  const size_t more = unread_.size() - names.size();
  builder_.Count("columns_not_read", Severity::kInfo, static_cast<int64_t>(unread_.size()), kAbsent,
                 StrCat("values that are no telemetry known here were left out: ", Join(names, ", "),
                        more > 0 ? StrCat(" and ", more, " more") : std::string()));
}

}  // namespace gapless::internal::gpu_samples
