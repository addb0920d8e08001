// SPDX-License-Identifier: Apache-2.0
// Samples pressure stall information and the throttling of the process's control group.
#include "base/strings.h"
#include "collect/telemetry/collectors/host/parts.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal::host {
namespace {

constexpr std::string_view kResources[] = {"cpu", "io", "memory"};

// The folders of a process's control group: of version 2 ("0::/path"), and of the controller cpu of version 1.
struct Group {
  std::string unified, cpu;
};

Group GroupOf(const std::string& proc, const std::string& sys, int64_t pid) {
  Group group;
  const auto text = ReadSmallFile(StrCat(proc, '/', pid, "/cgroup"));
  if (!text) return group;
  const std::string root = sys + "/fs/cgroup";
  for (const std::string_view line : Lines(*text)) {
    const auto parts = Split(line, ':');
    if (parts.size() < 3) continue;
    const std::string_view path = line.substr(parts[0].size() + parts[1].size() + 2);
    if (path.find("..") != std::string_view::npos) continue;
    if (parts[0] == "0" && parts[1].empty()) group.unified = StrCat(root, path);
    for (const std::string_view controller : Split(parts[1], ','))
      if (controller == "cpu") group.cpu = StrCat(root, '/', parts[1], path);
  }
  return group;
}

}  // namespace

void PressurePart::Sample(const Tick& tick, SampleSink& sink) {
  for (const std::string_view resource : kResources)
    Stalls(StrCat(proc_, "/pressure/", resource), StrCat("host.pressure.", resource), tick.mono_ns, sink);
  Group(tick, sink);
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=123": the total counts microseconds in which some (or all) tasks
// stalled.
void PressurePart::Stalls(const std::string& file, const std::string& name, int64_t mono_ns, SampleSink& sink) {
  const auto text = ReadSmallFile(file);
  if (!text) return;
  for (const std::string_view line : Lines(*text)) {
    const auto words = Words(line);
    if (words.size() != 5 || !words[4].starts_with("total=")) continue;
    const auto total_us = ToInt(words[4].substr(6));
    if (!total_us) continue;
    const std::string series = StrCat(name, '.', words[0]);
    const double share = meters_[series].PerSecond(static_cast<double>(*total_us) * 1e-6, mono_ns);
    if (share == share) sink.Value(series, "share", share);
  }
}

// The group is looked up every ten seconds, by the first process of the run: a container runtime may move
// processes.
void PressurePart::Group(const Tick& tick, SampleSink& sink) {
  if (tick.followed.empty()) return;
  if (find_due_.At(tick.mono_ns)) {
    auto [unified, cpu] = GroupOf(proc_, sys_, tick.followed.front());
    group_ = std::move(unified), cpu_group_ = std::move(cpu);
  }
  if (!group_due_.At(tick.mono_ns)) return;
  const auto rate = [&](const std::string& name, std::string_view unit, double total) {
    const double value = meters_[name].PerSecond(total, tick.mono_ns);
    if (value == value) sink.Value(name, unit, value);
  };
  if (!group_.empty()) {
    for (const std::string_view resource : kResources)
      Stalls(StrCat(group_, '/', resource, ".pressure"), StrCat("cgroup.pressure.", resource), tick.mono_ns, sink);
    if (const auto bytes = ToInt(ReadLineOf(group_ + "/memory.current")))
      sink.Value("cgroup.memory", "bytes", static_cast<double>(*bytes));
    if (const auto stat = ReadSmallFile(group_ + "/cpu.stat"))
      if (const auto us = NumberAfter(*stat, "throttled_usec"))
        rate("cgroup.cpu.throttled", "s/s", static_cast<double>(*us) * 1e-6);
  }
  if (!cpu_group_.empty())
    if (const auto stat = ReadSmallFile(cpu_group_ + "/cpu.stat"))
      if (const auto ns = NumberAfter(*stat, "throttled_time"))
        rate("cgroup.cpu.throttled", "s/s", static_cast<double>(*ns) * 1e-9);
}

}  // namespace gapless::internal::host
