// SPDX-License-Identifier: Apache-2.0
// Table whole_run as rules read it: what the agent saw in all steps of all processes, not only in recorded ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/rows/whole_run.h"
#include "diagnose/bottleneck.h"

namespace gapless::internal {

struct WholeRunSum {
  int64_t calls = 0, total_ns = 0, max_ns = 0;
  std::string line;          // source line of the process with most of the time; "": not known
  std::vector<size_t> rows;  // rows of the table that have a detail, most calls first
};

class WholeRunView {
 public:
  explicit WholeRunView(Tables& tables);

  // Returns true if the agent saw enough steps to say how often rare things happen. Rules that know only the recorded
  // steps then leave these things to those that know the run.
  bool knows() const;
  int64_t steps() const { return steps_; }
  int64_t wall_ns() const { return wall_ns_; }
  bool on_device() const { return on_device_; }
  WholeRunSum Sum(std::string_view kind) const;
  double Share(int64_t ns) const;
  // Returns the rule whose finding covers host code of that share of the steps: "rollout", or "" for none.
  std::string_view WholeOfHostCode(double share) const;
  // "8.2 ms of every step", mean over the steps that count.
  std::string CostText(int64_t ns) const;
  // "12 % of the time of 500 steps".
  std::string ShareText(int64_t ns) const;
  // Returns the gain of removing `low` to `high` of the time, summed over the processes.
  Gain GainOf(double low_ns, double expected_ns, double high_ns, double confidence) const;
  const WholeRunRows& table() const { return table_; }

 private:
  WholeRunRows table_;
  int64_t steps_ = 0, wall_ns_ = 0;
  bool on_device_ = false;
};

}  // namespace gapless::internal
