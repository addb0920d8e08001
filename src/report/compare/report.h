// SPDX-License-Identifier: Apache-2.0
// The output of `gapless compare`: of runs in pairs, of their ratios alone, and of stored results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proof/comparison.h"
#include "proof/stored.h"

namespace gapless::internal {

std::string SpeedFactorText(double factor);  // "1.050×"
std::string PValueText(double p);
std::string SpeedupInShort(const Comparison& comparison);  // "speedup 1.05×"
// The whole output, as text and as a JSON document.
std::string CompareText(const Comparison& comparison, const PairPlan& plan);
std::string CompareJson(const Comparison& comparison, const PairPlan& plan);
// Returns what disturbed the runs, the first sentence of each kind.
std::vector<std::string> NoiseOf(const Comparison& comparison);
// Command lines that continue from the answer (report/next.h); empty: B is not faster.
std::vector<std::string> NextOf(const Comparison& comparison, const PairPlan& plan);
// P values of the pairs alone.
NominalP NominalOf(const PairSequence& sequence);

// Pairs of which only ln(time of B / time of A) is known.
std::string RatiosText(const PairSequence& sequence, const PairOptions& options);
std::string RatiosJson(const PairSequence& sequence, const PairOptions& options);

// Two stored results.
std::string StoredText(const StoredAnswer& answer);
std::string StoredJson(const StoredAnswer& answer);
// Returns as a sentence how far the two files can answer the question.
std::string WhatTheyShow(const StoredComparison& comparison);

}  // namespace gapless::internal
