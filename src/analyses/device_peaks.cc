// SPDX-License-Identifier: Apache-2.0
// A name must equal one of the table's, but for the vendor in front, case and dashes: products differ by one word
// ("RTX 3080 Ti", "RTX 4090 Laptop GPU", "A100-SXM4-40GB MIG 1g.5gb"), and a wrong peak is worse than none.
#include "analyses/device_peaks.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <unordered_map>

namespace gapless::internal {

extern const std::string_view kDevicesCsv;  // generated/device_table.cc

namespace {

// Fields of a line; those in double quotes may hold commas. No quotes within quotes.
std::vector<std::string_view> Fields(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const bool quoted = line.starts_with('"');
    if (quoted) line.remove_prefix(1);
    const size_t end = std::min(line.find(quoted ? '"' : ','), line.size());
    fields.push_back(line.substr(0, end));
    line.remove_prefix(end);
    if (quoted && !line.empty()) line.remove_prefix(1);
    if (line.empty()) return fields;
    line.remove_prefix(1);
  }
}

double Number(std::string_view text) {
  double value = DevicePeaks::kNone;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<std::string_view> Names(std::string_view list) {
  std::vector<std::string_view> names;
  for (size_t end = 0; !list.empty(); list.remove_prefix(std::min(end + 1, list.size()))) {
    end = std::min(list.find('|'), list.size());
    names.push_back(list.substr(0, end));
  }
  return names;
}

DevicePeaks Device(const std::vector<std::string_view>& fields) {
  constexpr double DevicePeaks::*kFigures[] = {
      &DevicePeaks::sm_count,    &DevicePeaks::fp64,      &DevicePeaks::fp64_matrix, &DevicePeaks::fp32,
      &DevicePeaks::fp32_matrix, &DevicePeaks::tf32,      &DevicePeaks::fp16,        &DevicePeaks::bf16,
      &DevicePeaks::fp8,         &DevicePeaks::fp4,       &DevicePeaks::memory_gbps, &DevicePeaks::memory_gb,
      &DevicePeaks::l2_mib,      &DevicePeaks::link_gbps, &DevicePeaks::pcie,        &DevicePeaks::board_power_w};
  constexpr size_t kFirstFigure = 5;
  DevicePeaks device;
  if (fields.size() != kFirstFigure + std::size(kFigures) + 1) return device;
  device.name = fields[0];
  device.names = Names(fields[1]);
  device.vendor = fields[2];
  device.architecture = fields[3];
  device.compute_capability = fields[4];
  for (size_t i = 0; i < std::size(kFigures); ++i) device.*kFigures[i] = Number(fields[kFirstFigure + i]);
  device.source = fields.back();
  return device;
}

std::vector<DevicePeaks> Parse(std::string_view csv) {
  std::vector<DevicePeaks> devices;
  for (bool header = true; !csv.empty();) {
    const size_t end = std::min(csv.find('\n'), csv.size());
    const std::string_view line = csv.substr(0, end);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (line.empty() || line.starts_with('#')) continue;
    if (!header) devices.push_back(Device(Fields(line)));
    header = false;
  }
  return devices;
}

std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : name)
    plain.push_back(c == '-' || c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  for (const std::string_view vendor : {"nvidia ", "amd ", "tesla "})
    if (plain.starts_with(vendor)) plain.erase(0, vendor.size());
  return plain;
}

}  // namespace

std::span<const DevicePeaks> AllDevicePeaks() {
  static const std::vector<DevicePeaks> kDevices = Parse(kDevicesCsv);
  return kDevices;
}

const DevicePeaks* FindDevicePeaks(std::string_view recorded_name) {
  static const std::unordered_map<std::string, const DevicePeaks*> kByName = [] {
    std::unordered_map<std::string, const DevicePeaks*> by_name;
    for (const DevicePeaks& device : AllDevicePeaks())
      for (const std::string_view name : device.names) by_name.emplace(Plain(name), &device);
    return by_name;
  }();
  const auto found = kByName.find(Plain(recorded_name));
  return found == kByName.end() ? nullptr : found->second;
}

}  // namespace gapless::internal
