// SPDX-License-Identifier: Apache-2.0
// Table host_steps as rules read it: the steps of processes that used no device, all ranks together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/rows/host_steps.h"
#include "diagnose/bottleneck.h"
#include "diagnose/estimate.h"

namespace gapless::internal {

class HostStepView {
 public:
  explicit HostStepView(Tables& tables) : table_(tables.Get<HostStepsRows>()) {}

  // Only when no process used a device: where one did, the ledger has the say, and where one launched work that is not
  // in the recording (cut_recording) nobody has.
  bool applies(Tables& tables) const { return Sum("steps") > 0 && applies_to_all(tables); }
  // The same where no step is marked: then the table divides all that was recorded, setting up and the like included.
  bool applies_to_all(Tables& tables) const;
  size_t ranks() const { return table_.rows(); }
  const HostStepsRows& table() const { return table_; }
  // Sum of a column over the ranks.
  int64_t Sum(HostStepsRows::IntColumn column) const;
  double Share(int64_t ns) const;
  // "8.2 ms of every step", mean over the ranks; without steps "8.2 ms of 15.4 s recorded".
  std::string CostText(int64_t ns) const;
  // "8.2 ms of every step of rank 1": what only that rank spends; absent: the same as above.
  std::string CostText(int64_t ns, std::optional<int64_t> rank) const;
  // The first text of a column; "".
  std::string First(HostStepsRows::TextColumn column) const;
  // Returns the time that calling an operator takes: the mean of the ranks that show it, else kOperatorCallNs.
  int64_t CallNs() const;
  // Returns true if the steps run many operators that take little longer than calling them does; the optimiser's do not
  // count.
  bool HasTinyOperators() const;
  // Returns the Python between operators that goes into calling tiny ones; 0 if they are not tiny. What is far more
  // than calls need is code of another purpose.
  int64_t CallingPythonNs() const;
  // Returns the gain of removing `low` to `high` of the time, summed over the ranks.
  Gain GainOf(double low_ns, double expected_ns, double high_ns, double confidence) const;

 private:
  HostStepsRows table_;
};

}  // namespace gapless::internal
