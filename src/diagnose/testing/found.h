// SPDX-License-Identifier: Apache-2.0
// What tests ask a diagnosis: is a bottleneck in it, and does its evidence say something.
#pragma once

#include <algorithm>
#include <string_view>

#include "diagnose/rule.h"

namespace gapless::internal::testing {

// Returns the bottleneck of a rule; null if there is none.
inline const Bottleneck* Find(const Diagnosis& diagnosis, std::string_view id) {
  const auto at = std::find_if(diagnosis.bottlenecks.begin(), diagnosis.bottlenecks.end(),
                               [&](const Bottleneck& bottleneck) { return bottleneck.id == id; });
  return at == diagnosis.bottlenecks.end() ? nullptr : &*at;
}

inline bool Says(const Bottleneck& bottleneck, std::string_view part) {
  return std::any_of(bottleneck.evidence.begin(), bottleneck.evidence.end(),
                     [&](const Evidence& evidence) { return evidence.text.find(part) != evidence.text.npos; });
}

}  // namespace gapless::internal::testing
