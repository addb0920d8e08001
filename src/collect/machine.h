// SPDX-License-Identifier: Apache-2.0
// The part of a run's manifest about where it ran: host, GPUs, the user's code, the environment that matters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gapless::internal {

struct GpuFacts {
  std::string model, uuid, bus_id;
};

// HostFacts describe a machine. Empty texts and 0 are not known.
struct HostFacts {
  std::string name, kernel, cpu;
  int64_t cores = 0;         // that this process may use
  int64_t memory_bytes = 0;  // 0: unknown
  std::vector<GpuFacts> gpus;
  std::string nvidia_driver;
};
// Returns the facts of this machine; `proc` is the directory /proc. GPUs are those that the driver lists there.
HostFacts DescribeHost(const std::string& proc = "/proc");

struct GitFacts {
  std::string root, commit, branch;  // branch is empty when none is checked out
  std::optional<bool> dirty;
  std::optional<int64_t> author_unix_ns = {};  // when the commit was written
};
// Returns the state of the folder the command runs in; absent outside a repository or without git. Nothing the
// repository configures is run.
std::optional<GitFacts> DescribeGit(const std::string& folder);

// Variables that change how training runs (CUDA_*, NCCL_*, OMP_*, PYTORCH_*, SLURM_* …), sorted. Others, which may hold
// secrets, are left out, and so are values of names that sound like secrets.
std::vector<std::pair<std::string, std::string>> RelevantEnvironment();

}  // namespace gapless::internal
