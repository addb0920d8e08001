// SPDX-License-Identifier: Apache-2.0
// The host: what /proc and /sys say about processors, memory, disks, network, pressure, and the run's own processes.
//
// Times in /proc/stat come in hundredths of a second, so looking more often than ten times a second gives noise; files
// per thread cost most and are read least often. Only pressure, which counts microseconds, is read at every tick.
#include "collect/telemetry/collector.h"
#include "collect/telemetry/collectors/host/parts.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal::host_collector {
namespace {

class HostSession : public CollectorSession {
 public:
  explicit HostSession(const TelemetrySources& sources)
      : system_(sources), devices_(sources), pressure_(sources), processes_(sources) {}

  void Sample(const Tick& tick, SampleSink& sink) override {
    system_.Sample(tick, sink);
    devices_.Sample(tick, sink);
    pressure_.Sample(tick, sink);
    processes_.Sample(tick, sink);
  }

 private:
  host::SystemPart system_;
  host::DevicesPart devices_;
  host::PressurePart pressure_;
  host::ProcessesPart processes_;
};

Result<std::unique_ptr<CollectorSession>> Open(const TelemetrySources& sources, SampleSink& sink) {
  if (!ReadSmallFile(sources.proc + "/stat"))
    return Fail(ErrorCode::kEnvironment, "there is no /proc to read", sources.proc);
  host::Describe(sources, sink);
  return std::unique_ptr<CollectorSession>(std::make_unique<HostSession>(sources));
}

}  // namespace

COLLECTOR(host) = {.name = "host",
                   .help = "Processors, memory, disks, network, pressure and the run's processes, from /proc and /sys",
                   .open = Open};

}  // namespace gapless::internal::host_collector
