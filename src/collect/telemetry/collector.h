// SPDX-License-Identifier: Apache-2.0
// A collector measures one source of telemetry: the host, GPUs through one library. One source = one file in
// collect/telemetry/collectors/.
//
// To add one: write src/collect/telemetry/collectors/<name>.cc and end it with
//   COLLECTOR(<name>) = {.name = "<name>", .help = "…", .open = Open};
// The sampler then opens it, and calls Sample() at every tick from its one thread. A collector decides itself how often
// it looks: what costs much or changes slowly is skipped at most ticks (Due). What could not be measured is not
// written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collect/telemetry/sink.h"

namespace gapless::internal {

// TelemetrySources name the directories, libraries and programs that collectors read. Tests pass their own.
struct TelemetrySources {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string nvml_library = "libnvidia-ml.so.1";
  std::string dcgmi = "dcgmi";    // looked for on PATH; "" switches it off
  std::string exporter_url = {};  // URL of a DCGM exporter; "" switches it off
  std::string amd_smi_library = "libamd_smi.so";
};

// A Tick is one moment. Rates are taken over mono_ns, which is never set back; samples carry unix_ns.
struct Tick {
  int64_t unix_ns = 0;
  int64_t mono_ns = 0;
  std::span<const int64_t> followed = {};  // the processes of the run, by pid, ascending
};

// A timer that is due at a fixed rate; the first call always returns true.
class Due {
 public:
  explicit Due(int64_t period_ns) : period_ns_(period_ns) {}
  bool At(int64_t mono_ns) {
    if (mono_ns < next_ns_) return false;
    next_ns_ = mono_ns + period_ns_ - period_ns_ / 8;  // a tick that comes a little early counts
    return true;
  }

 private:
  int64_t period_ns_;
  int64_t next_ns_ = INT64_MIN;
};

// A CollectorSession is one opened source. All its calls come from the sampler's thread, and must not wait: they
// delay all other collectors.
class CollectorSession {
 public:
  virtual ~CollectorSession() = default;
  virtual void Sample(const Tick& tick, SampleSink& sink) = 0;
};

struct Collector {
  std::string_view name;  // equals the file name
  std::string_view help;  // one line
  // An error when the source does not exist here; that is normal and only noted in the recording.
  Result<std::unique_ptr<CollectorSession>> (*open)(const TelemetrySources& sources, SampleSink& sink);
};

#define COLLECTOR(n)                    \
  extern const Collector n##_collector; \
  constinit const Collector n##_collector

std::span<const Collector* const> AllCollectors();  // sorted by name; generated from the folder

}  // namespace gapless::internal
