// SPDX-License-Identifier: Apache-2.0
// Questions of tests to a diagnosis: whether a bottleneck is in it, and whether its evidence says something.
#pragma once

#include <algorithm>
#include <string_view>

#include "diagnose/rule.h"

namespace gapless::internal::testing {

// Returns the bottleneck of a rule, or null where the diagnosis has none.
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
