// SPDX-License-Identifier: Apache-2.0
// A rule looks at tables and names at most a few bottlenecks. One rule = one file in diagnose/rules/.
//
// To add one: write src/diagnose/rules/<id>.cc and end it with
//   RULE(<id>) = {.id = "<id>", .title = "…", .why = "…", .needs = kNeeds, .check = Check};
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "base/result.h"
#include "diagnose/bottleneck.h"

namespace gapless::internal {

struct Rule {
  std::string_view id;  // equals the file name
  BottleneckType type;
  std::string_view title;                   // one line of at most 72 characters
  std::string_view why;                     // one paragraph: what the rule looks at, its thresholds and their source
  std::string_view saves{};                 // share of the affected time: low, expected, high; empty: has no gain
  std::span<const std::string_view> needs;  // analyses, by name
  Result<std::vector<Bottleneck>> (*check)(Tables& tables);
  bool types_differ = false;  // each finding has a type of its own, and `type` is that of most
};

#define RULE(n)               \
  extern const Rule n##_rule; \
  constinit const Rule n##_rule

// Returns the rule's complete findings: `check` need not set id and type, which are the rule's (but types_differ), nor
// severity where it follows from share_of_step.
Result<std::vector<Bottleneck>> CheckRule(const Rule& rule, Tables& tables);

std::span<const Rule* const> AllRules();  // sorted by id; generated from the folder

struct Diagnosis {
  std::vector<Bottleneck> bottlenecks;  // ranked: expected gain, then severity
  struct Failure {
    std::string_view rule;
    Error error;
  };
  std::vector<Failure> failures;  // rules that could not run; the others did
};
Diagnosis Diagnose(Tables& tables);

// The order of the ranked list: what is wrong with the recording itself, then by expected gain, then by severity.
bool RanksBefore(const Bottleneck& a, const Bottleneck& b);

}  // namespace gapless::internal
