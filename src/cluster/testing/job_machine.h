// SPDX-License-Identifier: Apache-2.0
// The machines of a simulated job: runs the programs of all ranks against each other.
#pragma once

#include <vector>

#include "cluster/testing/job_draws.h"
#include "cluster/testing/job_layout.h"
#include "cluster/testing/job_program.h"
#include "cluster/testing/simulated_job.h"

namespace gapless::internal::testing {

// The fault, as factors and delays of the machines.
struct Ailment {
  Fault fault = Fault::kNone;
  std::vector<bool> has{};  // by rank: it is at fault itself
  int leaf = -1;
  double severity = 0;
  bool steals = false;  // of a slow host: the processor is taken away now and then, else all costs more
  bool silent = false;  // garbage collection leaves no mark
  int period = 1;       // steps from one collection to the next
};

struct Machines {
  Draws draws;
  JobLayout layout;
  JobPlan plan;
  Groups groups;
  int steps = 6;  // recorded ones; one more runs before
  Ailment ailment{};
  bool records = true;                                            // else only the time of a step is wanted
  double card_gbps = 48, nvlink_gbps = 360, latency_ns = 14'000;  // of the links
};

struct Outcome {
  std::vector<RankRecord> ranks{};
  int64_t step_ns = 0;  // mean over ranks and over the recorded steps but the first
};

Outcome RunMachines(const Machines& machines);

}  // namespace gapless::internal::testing
