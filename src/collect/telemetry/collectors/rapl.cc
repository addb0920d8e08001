// SPDX-License-Identifier: Apache-2.0
// The energy of the host's processors and memory, as the processors count it (RAPL), from /sys/class/powercap. Only
// root may read the counters.
//
// A counter wraps at max_energy_range_uj, within minutes on a large processor; so each look adds what was counted since
// the one before. Zones of the same kind are added up over all sockets: packages, and the memory beside them, which
// some processors count inside the package and all of them name `dram`.
#include <vector>

#include "base/strings.h"
#include "collect/telemetry/collector.h"
#include "collect/telemetry/proc.h"
#include "collect/telemetry/rate.h"

namespace gapless::internal::rapl_collector {
namespace {

constexpr double kMicro = 1e-6;
constexpr int64_t kTenTimesASecond = 100'000'000;  // the counters change every millisecond

struct Zone {
  std::string counter{};  // its file
  double range_j = 0;     // where it wraps; 0: not known
  double last_j = 0;
};

// Zones of one kind.
struct Domain {
  std::string_view zone_name, series, power;
  std::vector<Zone> zones{};
  double joules = 0;  // since the collector was opened
  RateMeter watts{};
};

std::optional<double> JoulesIn(const std::string& file) {
  const auto microjoules = ToInt(ReadLineOf(file));
  return microjoules ? std::optional(static_cast<double>(*microjoules) * kMicro) : std::nullopt;
}

class RaplSession : public CollectorSession {
 public:
  explicit RaplSession(std::vector<Domain> domains) : domains_(std::move(domains)) {}

  void Sample(const Tick& tick, SampleSink& sink) override {
    if (!due_.At(tick.mono_ns)) return;
    for (Domain& domain : domains_) {
      for (Zone& zone : domain.zones) Count(zone, domain);
      sink.Value(domain.series, "J", domain.joules);
      if (const double watts = domain.watts.PerSecond(domain.joules, tick.mono_ns); watts == watts)
        sink.Value(domain.power, "W", watts);
    }
  }

 private:
  // A counter below its last value has wrapped; where the range is not known, what it lost is not counted.
  static void Count(Zone& zone, Domain& domain) {
    const auto now = JoulesIn(zone.counter);
    if (!now) return;
    const double grown = *now - zone.last_j;
    if (grown >= 0 || zone.range_j > 0) domain.joules += grown >= 0 ? grown : grown + zone.range_j;
    zone.last_j = *now;
  }

  std::vector<Domain> domains_;
  Due due_{kTenTimesASecond};
};

// intel-rapl:0 is a package, intel-rapl:0:1 a part of it. The driver has this name for processors of AMD, too.
Result<std::unique_ptr<CollectorSession>> Open(const TelemetrySources& sources, SampleSink&) {
  const std::string folder = sources.sys + "/class/powercap";
  std::vector<Domain> domains{{.zone_name = "package", .series = "host.energy", .power = "host.power"},
                              {.zone_name = "dram", .series = "host.energy.dram", .power = "host.power.dram"}};
  bool is_there = false;
  for (const std::string& name : NamesIn(folder)) {
    if (!name.starts_with("intel-rapl:")) continue;
    is_there = true;
    const std::string zone = StrCat(folder, '/', name), kind = ReadLineOf(zone + "/name");
    const auto joules = JoulesIn(zone + "/energy_uj");
    for (Domain& domain : domains)
      if (joules && kind.starts_with(domain.zone_name))
        domain.zones.push_back({.counter = zone + "/energy_uj",
                                .range_j = JoulesIn(zone + "/max_energy_range_uj").value_or(0),
                                .last_j = *joules});
  }
  std::erase_if(domains, [](const Domain& domain) { return domain.zones.empty(); });
  if (domains.empty() && is_there)
    return Fail(ErrorCode::kEnvironment, "only root may read the processors' energy counters", folder,
                "run it as root: sudo -E gapless profile -- …");
  if (domains.empty())
    return Fail(ErrorCode::kEnvironment, "the processors' energy counters are not there", folder,
                "virtual machines have none; elsewhere: sudo modprobe intel_rapl_msr");
  return std::unique_ptr<CollectorSession>(std::make_unique<RaplSession>(std::move(domains)));
}

}  // namespace

COLLECTOR(rapl) = {
    .name = "rapl", .help = "Energy and power of the host's processors and memory (RAPL), for root", .open = Open};

}  // namespace gapless::internal::rapl_collector
