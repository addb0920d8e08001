// SPDX-License-Identifier: Apache-2.0
// Reads from the environment which rank of the job this process is, and whether it is to be recorded.
#pragma once

#include <cstdint>

namespace gapless::internal::inject {

struct Rank {
  int64_t rank = -1;        // -1: none, the folder is `main`
  int64_t world_size = -1;  // -1: not known
};

// RANK, else OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK, else SLURM_PROCID when SLURM_NTASKS is above 1.
Rank RankOfProcess();

enum class Decision : uint8_t {
  kOff,       // nothing is done, and nothing is said
  kCollect,   // CUPTI records
  kStepAside  // another profiler is at work: say so and do nothing
};

// Returns how large a stream may become: GAPLESS_CUPTI_LIMIT_MB, by default 4096.
uint64_t LimitBytes();

// GAPLESS_RUN must name the run folder, GAPLESS_DISABLE must not be 1. GAPLESS_CUPTI: `always`; `auto`, the default,
// leaves processes with a Python interpreter to the agent; `never`. Nsight's tools are known by what they put into the
// environment; `why` is then set to a sentence.
Decision Decide(const char*& why);

}  // namespace gapless::internal::inject
