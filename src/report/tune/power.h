// SPDX-License-Identifier: Apache-2.0
// The output of `gapless tune power`, as text and JSON.
#pragma once

#include <string>
#include <vector>

#include "base/describe.h"
#include "optimize/power_tuning.h"

namespace gapless::internal {

std::string PowerText(const PowerTuning& tuning, const std::vector<std::string>& command);
extern const TypeInfo kPowerDocument;
std::string PowerJson(const PowerTuning& tuning);

}  // namespace gapless::internal
