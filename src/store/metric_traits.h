// SPDX-License-Identifier: Apache-2.0
// Properties of a metric from its name, for records without them: names end with their unit.
#pragma once

#include <optional>
#include <string_view>

namespace gapless::internal {

struct MetricTraits {
  std::string_view unit{};                 // empty: the name has no unit
  std::optional<bool> higher_is_better{};  // absent: likewise
};

// Returns the traits by the ending of the name: "step_time_ms" is in ms and better when lower, "samples_per_second" in
// 1/s and better when higher. Nothing is known of a name without such an ending.
MetricTraits TraitsOf(std::string_view metric);

}  // namespace gapless::internal
