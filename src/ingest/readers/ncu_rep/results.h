// SPDX-License-Identifier: Apache-2.0
// Turns the results of a report into rows of kernel_metric, the same as its table in CSV gives, and of kernel_line.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire_format.h"
#include "ingest/readers/ncu_rep/code.h"
#include "ingest/readers/ncu_rep/container.h"
#include "trace/builder.h"

namespace gapless::internal::ncu_rep {

// Returns the text of a rule as ncu prints it: "@section:Id:Name@" is its name, "@url:Name:Address@" both.
std::string PlainText(std::string_view text);

class Results {
 public:
  Results(TraceBuilder& builder, Code& code) : builder_(builder), code_(code) {}

  // Takes what the header of a block says, for the results in it and behind it.
  void Begin(const Block& block);
  // Takes the message of a launch. One that is damaged is counted, and what was read before the damage is kept.
  void Take(std::string_view message);
  // To be called once, at the end: counts what was left out.
  void Finish();

  int64_t launches() const { return launches_; }

 private:
  struct Metric {
    std::string_view name, unit, text;
    double value;
  };
  struct Rule {
    std::string section, name, text;
    double speedup;
  };
  struct Launch;

  void TakeField(const WireReader& field, Launch& launch);
  void TakeMetric(std::string_view message, Launch& launch);
  static bool TakeSaid(std::string_view message, Rule& rule);
  void TakeRule(std::string_view message, Launch& launch);
  void AddLaunch(Launch& launch);
  void Add(const Launch& launch, std::string_view metric, double value, std::string_view text, std::string_view unit);

  TraceBuilder& builder_;
  Code& code_;
  std::vector<std::string> names_{}, units_{};
  std::set<std::string> sections_{};
  std::string process_{};
  int64_t pid_ = -1;
  int64_t launches_ = 0, metrics_ = 0, absent_ = 0, damaged_ = 0, instances_ = 0, lines_ = 0;
};

}  // namespace gapless::internal::ncu_rep
