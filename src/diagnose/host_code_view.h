// SPDX-License-Identifier: Apache-2.0
// Table host_code as rules read it: the place of the host's code that stands behind a wait.
#pragma once

#include <optional>
#include <string_view>

#include "analyses/rows/host_code.h"
#include "diagnose/bottleneck.h"

namespace gapless::internal {

// "load() (app.py:21)", of a row; "app.py:21" of a line alone.
std::string HostPlaceText(const HostCodeRows& code, size_t row);

// The source line of a row, "app.py:21"; "": none is known.
std::string HostPlaceLine(const HostCodeRows& code, size_t row);

// The place with most of an activity in the profiles beside a recording, as evidence with its share of that activity.
// Nullopt: no profile, or none of its time is that.
std::optional<Evidence> HostPlaceEvidence(const HostCodeRows& code, std::string_view activity);

}  // namespace gapless::internal
