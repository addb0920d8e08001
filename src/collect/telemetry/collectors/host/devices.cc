// SPDX-License-Identifier: Apache-2.0
// Samples network interfaces and disks from /sys and /proc as rates in bytes per second.
#include <filesystem>

#include "base/strings.h"
#include "collect/telemetry/collectors/host/parts.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal::host {

void DevicesPart::Sample(const Tick& tick, SampleSink& sink) {
  if (!due_.At(tick.mono_ns)) return;
  Network(tick.mono_ns, sink);
  Disks(tick.mono_ns, sink);
}

// Writes the growth of a total since the last call; nothing at the first call, and after a counter was reset.
void DevicesPart::Rate(const std::string& name, std::string_view unit, double total, int64_t mono_ns,
                       SampleSink& sink) {
  const double rate = meters_[name].PerSecond(total, mono_ns);
  if (rate == rate) sink.Value(name, unit, rate);
}

// Interfaces that never carried anything are left out, and so is loopback, which is no network.
void DevicesPart::Network(int64_t mono_ns, SampleSink& sink) {
  const auto text = ReadSmallFile(proc_ + "/net/dev");
  if (!text) return;
  for (const std::string_view line : Lines(*text)) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto name = Words(line.substr(0, colon));
    const auto fields = Words(line.substr(colon + 1));  // 8 of receiving, then 8 of sending
    if (name.size() != 1 || name[0] == "lo" || fields.size() < 16) continue;
    const auto received = ToInt(fields[0]), sent = ToInt(fields[8]);
    if (!received || !sent || *received + *sent == 0) continue;
    Rate(StrCat("host.net.receive/", name[0]), "bytes/s", static_cast<double>(*received), mono_ns, sink);
    Rate(StrCat("host.net.send/", name[0]), "bytes/s", static_cast<double>(*sent), mono_ns, sink);
  }
}

// Whole disks only: the bytes of a partition are those of its disk. Sectors are 512 bytes whatever the disk says.
void DevicesPart::Disks(int64_t mono_ns, SampleSink& sink) {
  constexpr double kSector = 512;
  const auto text = ReadSmallFile(proc_ + "/diskstats");
  if (!text) return;
  for (const std::string_view line : Lines(*text)) {
    const auto fields = Words(line);  // major minor name, reads merged sectors ms, writes merged sectors ms, now ms
    if (fields.size() < 13) continue;
    const std::string_view name = fields[2];
    auto known = whole_disk_.find(name);
    if (known == whole_disk_.end()) {
      std::error_code error;
      const bool whole = std::filesystem::exists(StrCat(sys_, "/block/", name), error);
      known = whole_disk_.emplace(name, whole).first;
    }
    const auto read = ToInt(fields[5]), written = ToInt(fields[9]), busy_ms = ToInt(fields[12]);
    if (!known->second || !read || !written || !busy_ms || *read + *written == 0) continue;
    Rate(StrCat("host.disk.read/", name), "bytes/s", static_cast<double>(*read) * kSector, mono_ns, sink);
    Rate(StrCat("host.disk.write/", name), "bytes/s", static_cast<double>(*written) * kSector, mono_ns, sink);
    Rate(StrCat("host.disk.busy/", name), "share", static_cast<double>(*busy_ms) * 1e-3, mono_ns, sink);
  }
}

}  // namespace gapless::internal::host
