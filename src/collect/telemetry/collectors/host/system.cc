// SPDX-License-Identifier: Apache-2.0
// Samples processor time by state, context switches, memory and processor frequency. Shares are differences of two
// readings, so the first reading writes none. "Busy" leaves out waiting for disks.
#include <algorithm>

#include "base/strings.h"
#include "collect/telemetry/collectors/host/parts.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal::host {
namespace {

constexpr double kBytesPerKib = 1024;

double Share(int64_t part, int64_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

// Writes the value, if there is one, in its base unit.
void ValueIf(SampleSink& sink, std::string_view name, std::string_view unit, std::optional<int64_t> value,
             double factor = 1) {
  if (value) sink.Value(name, unit, static_cast<double>(*value) * factor);
}

}  // namespace

void SystemPart::Sample(const Tick& tick, SampleSink& sink) {
  if (fast_.At(tick.mono_ns)) {
    if (const auto stat = ReadSmallFile(proc_ + "/stat")) {
      Processors(*stat, sink);
      Switches(*stat, tick.mono_ns, sink);
    }
    Memory(sink);
  }
  if (slow_.At(tick.mono_ns)) {
    const std::string line = ReadLineOf(proc_ + "/loadavg");
    const auto load = Words(line);
    if (const auto value = load.empty() ? std::nullopt : ToReal(load[0])) sink.Value("host.load1", "tasks", *value);
    Frequency(sink);
  }
}

// Fields of a cpu line: user nice system idle iowait irq softirq steal; guest time is inside user.
void SystemPart::Processors(const std::string& stat, SampleSink& sink) {
  double busiest = -1;
  for (const std::string_view line : Lines(stat)) {
    if (!line.starts_with("cpu")) break;
    const auto words = Words(line);
    if (words.size() < 9) continue;
    int64_t field[8];
    for (size_t i = 0; i < 8; ++i) field[i] = ToInt(words[i + 1]).value_or(0);
    Times now{.idle = field[3], .waiting = field[4], .stolen = field[7], .system = field[2] + field[5] + field[6]};
    for (const int64_t part : field) now.total += part;
    const auto [at, first] = before_.try_emplace(std::string(words[0]), now);
    const Times was = at->second;
    at->second = now;
    const int64_t passed = now.total - was.total;
    if (first || passed <= 0) continue;
    const double busy = std::clamp(1 - Share(now.idle - was.idle + now.waiting - was.waiting, passed), 0.0, 1.0);
    if (words[0] != "cpu") {
      busiest = std::max(busiest, busy);
      continue;
    }
    sink.Value("host.cpu.busy", "share", busy);
    sink.Value("host.cpu.system", "share", Share(now.system - was.system, passed));
    sink.Value("host.cpu.iowait", "share", Share(std::max<int64_t>(now.waiting - was.waiting, 0), passed));
    sink.Value("host.cpu.steal", "share", Share(now.stolen - was.stolen, passed));
  }
  if (busiest >= 0) sink.Value("host.cpu.busiest", "share", busiest);
}

void SystemPart::Switches(const std::string& stat, int64_t mono_ns, SampleSink& sink) {
  if (const auto total = NumberAfter(stat, "ctxt"))
    sink.Value("host.context_switches", "1/s", switches_.PerSecond(static_cast<double>(*total), mono_ns));
  if (const auto total = NumberAfter(stat, "processes"))
    sink.Value("host.forks", "1/s", forks_.PerSecond(static_cast<double>(*total), mono_ns));
  ValueIf(sink, "host.tasks.running", "tasks", NumberAfter(stat, "procs_running"));
  ValueIf(sink, "host.tasks.blocked", "tasks", NumberAfter(stat, "procs_blocked"));
}

void SystemPart::Memory(SampleSink& sink) {
  const auto text = ReadSmallFile(proc_ + "/meminfo");
  if (!text) return;
  ValueIf(sink, "host.memory.available", "bytes", NumberAfter(*text, "MemAvailable"), kBytesPerKib);
  ValueIf(sink, "host.memory.dirty", "bytes", NumberAfter(*text, "Dirty"), kBytesPerKib);
  const auto total = NumberAfter(*text, "SwapTotal"), free = NumberAfter(*text, "SwapFree");
  if (total && free && *total > 0)
    sink.Value("host.swap.used", "bytes", static_cast<double>(*total - *free) * kBytesPerKib);
}

// The mean over the processors; virtual machines mostly do not say.
void SystemPart::Frequency(SampleSink& sink) {
  const std::string folder = sys_ + "/devices/system/cpu";
  double sum_khz = 0;
  int64_t count = 0;
  for (const std::string& name : NamesIn(folder)) {
    if (!name.starts_with("cpu") || !ToInt(std::string_view(name).substr(3))) continue;
    const auto khz = ToInt(ReadLineOf(StrCat(folder, '/', name, "/cpufreq/scaling_cur_freq")));
    if (khz) sum_khz += static_cast<double>(*khz), ++count;
  }
  if (count > 0) sink.Value("host.cpu.frequency", "Hz", sum_khz * 1000 / static_cast<double>(count));
}

void Describe(const TelemetrySources& sources, SampleSink& sink) {
  const auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) sink.Text(key, value);
  };
  text("host", ReadLineOf(sources.proc + "/sys/kernel/hostname"));
  text("host.kernel", ReadLineOf(sources.proc + "/sys/kernel/osrelease"));
  if (const auto info = ReadSmallFile(sources.proc + "/cpuinfo")) {
    int64_t count = 0;
    for (const std::string_view line : Lines(*info)) {
      if (line.starts_with("processor")) ++count;
      const size_t colon = line.find(": ");
      if (count == 1 && line.starts_with("model name") && colon != std::string_view::npos)
        sink.Text("host.cpu.model", line.substr(colon + 2));
    }
    if (count > 0) sink.Text("host.cpu.count", StrCat(count));
  }
  if (const auto info = ReadSmallFile(sources.proc + "/meminfo"))
    if (const auto total = NumberAfter(*info, "MemTotal")) sink.Text("host.memory.bytes", StrCat(*total * 1024));
}

}  // namespace gapless::internal::host
