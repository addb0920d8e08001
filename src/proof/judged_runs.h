// SPDX-License-Identifier: Apache-2.0
// The past runs that a result is judged against, and the marks and machines that they have.
#pragma once

#include <string>
#include <vector>

#include "store/history.h"
#include "validate/history_gate.h"

namespace gapless::internal {

// Runs that can be compared with the current one, oldest first.
struct Past {
  std::vector<BenchmarkRecord> records{};
  size_t other_machines = 0;  // runs on other kinds of machines, which are left out
};

Past Comparable(const BenchmarkRecord& current, std::vector<BenchmarkRecord> records);

// Returns the branch's runs of the same benchmark, oldest first, and after them those of the commit on other branches:
// a pull request is measured on its own. At most 2000 runs of the branch are read.
Result<std::vector<BenchmarkRecord>> ReadPast(const BenchmarkRecord& current, History& history,
                                              const std::string& branch);

// The runs of one metric.
struct JudgedRuns {
  std::vector<GateRun> values{};
  std::vector<std::string> commits{};  // commits of each run
  uint32_t machine = 0;                // machine of the current run, as in `values`; 0: not named
};

// Machines are told apart by the name of their host. With `may_be_there` a last run that may be the current result
// itself is left out.
JudgedRuns RunsOf(const Past& past, const BenchmarkRecord& current, const MetricRecord& metric, bool may_be_there);

}  // namespace gapless::internal
