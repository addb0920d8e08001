// SPDX-License-Identifier: Apache-2.0
// The parts of the collector `host`. Each looks at a few files, at its own pace.
#pragma once

#include <map>
#include <string>

#include "collect/telemetry/collector.h"
#include "collect/telemetry/rate.h"

namespace gapless::internal::host {

inline constexpr int64_t kMillisecond = 1'000'000;

// A SystemPart samples processors and memory of the whole host, from /proc/stat, loadavg and meminfo. The
// frequency, a file per processor, is read once a second.
class SystemPart {
 public:
  explicit SystemPart(const TelemetrySources& sources) : proc_(sources.proc), sys_(sources.sys) {}
  void Sample(const Tick& tick, SampleSink& sink);

 private:
  void Processors(const std::string& stat, SampleSink& sink);
  void Switches(const std::string& stat, int64_t mono_ns, SampleSink& sink);
  void Memory(SampleSink& sink);
  void Frequency(SampleSink& sink);

  struct Times {
    int64_t total = 0, idle = 0, waiting = 0, stolen = 0, system = 0;
  };
  std::string proc_, sys_;
  Due fast_{100 * kMillisecond}, slow_{1000 * kMillisecond};
  std::map<std::string, Times, std::less<>> before_;
  RateMeter switches_, forks_;
};

// /proc/net/dev and /proc/diskstats.
class DevicesPart {
 public:
  explicit DevicesPart(const TelemetrySources& sources) : proc_(sources.proc), sys_(sources.sys) {}
  void Sample(const Tick& tick, SampleSink& sink);

 private:
  void Network(int64_t mono_ns, SampleSink& sink);
  void Disks(int64_t mono_ns, SampleSink& sink);
  void Rate(const std::string& name, std::string_view unit, double total, int64_t mono_ns, SampleSink& sink);

  std::string proc_, sys_;
  Due due_{100 * kMillisecond};
  std::map<std::string, RateMeter> meters_;
  std::map<std::string, bool, std::less<>> whole_disk_;
};

// Pressure stall information of the host and of the run's control group, and throttling by its quota.
class PressurePart {
 public:
  explicit PressurePart(const TelemetrySources& sources) : proc_(sources.proc), sys_(sources.sys) {}
  void Sample(const Tick& tick, SampleSink& sink);

 private:
  void Stalls(const std::string& file, const std::string& name, int64_t mono_ns, SampleSink& sink);
  void Group(const Tick& tick, SampleSink& sink);

  std::string proc_, sys_;
  Due group_due_{100 * kMillisecond}, find_due_{10'000 * kMillisecond};
  std::string group_, cpu_group_;  // folders; "": none
  std::map<std::string, RateMeter> meters_;
};

// The processes of the run: processor time per thread, memory, faults, context switches, bytes read and written.
class ProcessesPart {
 public:
  explicit ProcessesPart(const TelemetrySources& sources) : proc_(sources.proc) {}
  void Sample(const Tick& tick, SampleSink& sink);

 private:
  // Growth of a total that is a sum over processes which come and go.
  class Growth {
   public:
    void Add(int64_t key, int64_t total);
    // Per second since the last call; NaN at the first.
    double PerSecond(int64_t mono_ns);

   private:
    std::map<int64_t, int64_t> before_, now_;
    int64_t grown_ = 0, mono_ns_ = 0;
    bool known_ = false;
  };
  void Totals(const Tick& tick, SampleSink& sink);
  void Threads(const Tick& tick, SampleSink& sink);
  void Switches(const Tick& tick, SampleSink& sink);

  std::string proc_;
  Due totals_due_{100 * kMillisecond}, threads_due_{200 * kMillisecond}, switches_due_{1000 * kMillisecond};
  Growth cpu_, minor_, major_, read_, written_, read_calls_, voluntary_, involuntary_;
  struct Thread {
    RateMeter meter;
    int64_t seen = 0;
  };
  std::map<int64_t, Thread> threads_;
  std::map<int64_t, std::string> thread_names_;  // names of the threads that have a series
};

// Facts: name of the host, kernel, processor, memory.
void Describe(const TelemetrySources& sources, SampleSink& sink);

}  // namespace gapless::internal::host
