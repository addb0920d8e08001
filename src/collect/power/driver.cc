// SPDX-License-Identifier: Apache-2.0
// Chooses the vendor, and has the words that all vendors share.
#include "collect/power/driver.h"

#include "base/strings.h"

namespace gapless::internal {

std::string_view NameOf(PowerKnob knob) { return knob == PowerKnob::kLimit ? "power_limit" : "clock"; }
std::string_view UnitOf(PowerKnob knob) { return knob == PowerKnob::kLimit ? "W" : "MHz"; }
std::string_view SettingsOf(PowerKnob knob) { return knob == PowerKnob::kLimit ? "power limits" : "clocks"; }

Unexpected CannotTune(const PowerBoard& board, std::string_view why, std::string_view hint) {
  return Fail(ErrorCode::kEnvironment, std::string(why), StrCat("GPU ", board.index, " (", board.name, ")"),
              std::string(hint));
}

Result<std::unique_ptr<PowerDriver>> OpenPowerDriver(const TelemetrySources& sources, PowerKnob knob) {
  auto nvidia = OpenNvidiaPower(sources, knob);
  if (nvidia && (*nvidia)->count() > 0) return nvidia;
  auto amd = OpenAmdPower(sources, knob);
  if (!amd || *amd != nullptr) return amd;
  return nvidia;
}

}  // namespace gapless::internal
