// SPDX-License-Identifier: Apache-2.0
// How `gapless compare` says what pairs of processes showed.
#pragma once

#include <cstdint>
#include <string>

#include "base/json_writer.h"
#include "proof/comparison.h"

namespace gapless::internal {

std::string SpeedupInShort(const Comparison& comparison);  // "speedup 1.05×"
std::string CompareText(const Comparison& comparison);
std::string CompareJson(const Comparison& comparison, const PairPlan& plan);
// The fields of it, into an object that is open.
void WriteComparison(JsonWriter& json, const Comparison& comparison, const PairPlan& plan);

// Pairs of which only ln(time of B / time of A) is known.
std::string RatiosText(const PairSequence& sequence, const PairOptions& options);
std::string RatiosJson(const PairSequence& sequence, const PairOptions& options);

}  // namespace gapless::internal
