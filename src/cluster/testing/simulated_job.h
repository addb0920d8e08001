// SPDX-License-Identifier: Apache-2.0
// Simulated training jobs of many ranks, clean or with one planted fault, and the recordings that PyTorch's profiler
// would have written of them. Nothing is painted: hosts launch, streams run in order, collectives begin on a rank when
// its inputs are there and end on all of them once the last has come, so waiting goes where it would go in a real job.
//
// A host has 8 GPUs, linked by NVLink, and a network card for each; four hosts share a leaf switch. Ranks are numbered
// as Megatron does it: tensor fastest, then data, then pipeline; an expert group is a stretch of consecutive data
// ranks. Clean jobs are noisy: speeds of GPUs and links, kernels, launches, pauses, lengths of sequences, recorders
// that start at different moments, clocks of hosts that are apart and drift. A faulty job has the same noise, draw by
// draw.
//
// The same spec gives the same bytes. Times are of the true clock, in ns from the start of the job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal::testing {

inline constexpr int kGpusPerHost = 8, kHostsPerLeaf = 4;

enum class Fault : uint8_t {
  kNone,
  kSlowGpu,     // all kernels of one rank take longer, those bound by memory less
  kSlowHost,    // launches of all ranks of a host cost more, or the host is taken away from them now and then
  kSlowLink,    // the network card of one rank
  kSlowNvlink,  // NVLink of one GPU
  kSlowSwitch,  // the links of a leaf switch to the outside
  kUnevenData,  // one data rank gets more tokens, always: all ranks of its replica have more work
  kGarbage,     // one rank's host stops for garbage collection
  kSlowLoader,  // one rank, or all of a host, waits for its data
  kCount,
};
std::string_view NameOf(Fault fault);     // "none", "slow_gpu", …
Fault FaultNamed(std::string_view name);  // kCount: there is none of this name

struct JobLayout {
  int data = 1, tensor = 1, pipeline = 1, expert = 1;
  int microbatches = 1;
  bool sharded = false;            // data parallel with sharded parameters (FSDP): gathered for each layer
  bool sequence_parallel = false;  // tensor parallel that gathers and scatters activations
  int ranks() const { return data * tensor * pipeline; }
};

enum class GroupNames : uint8_t { kMegatron, kDeviceMesh, kUndefined };  // what process groups are described as

struct JobSpec {
  uint64_t seed = 1;
  int ranks = 256;
  int steps = 6;
  Fault fault = Fault::kNone;
  double severity = 0;                // factor, share of bandwidth, or ms, by the fault; 0: drawn
  JobLayout layout{};                 // of one rank: drawn
  double clock_scale = 1;             // of the offsets between the clocks of hosts
  double drift_scale = 1;             // of the drift of these clocks
  std::optional<GroupNames> names{};  // none: drawn
  // For the same program with several numbers of ranks: messages are sized for so many cards a host, whatever part of
  // them the ranks use. 0: for those that they use.
  int cards = 0;
  int gathers_ahead = 1;          // sharded: layers whose parameters are asked for before they are needed
  bool keeps_gathered = false;    // sharded: the backward pass has what the forward pass gathered
  bool shards_optimizer = false;  // its work is 8 ÷ data ranks of what it is with 8
  int pieces = 1;                 // of a pipeline: each microbatch is cut into so many, for the same step
  double last_stage = 1;          // factor on the compute time of a pipeline's last stage
  // Messages are called in batches, as pipelines do: the recording has group, peer and size beside calls, not kernels.
  bool batched_messages = false;
  double card_gbps = 48, nvlink_gbps = 360, latency_us = 14;  // of the links, 1e9 bytes a second
};

// The planted fault, as a detector should find it.
struct JobTruth {
  Fault fault = Fault::kNone;
  std::string variant{};             // "host" or "rank" of a slow loader, "steals" of a slow host, "silent" garbage …
  std::vector<int> ranks{};          // the smallest set of ranks that can be told from outside to be at fault
  std::vector<std::string> hosts{};  // of these ranks
  int leaf = -1;                     // the leaf switch of a slow switch
  double severity = 0;
  int64_t step_ns = 0, step_without_ns = 0;  // what a step takes, with and without the fault
  std::vector<std::string> groups{};         // dimensions whose exchanges a slow link makes slower
};

// Communicator: the members in order, and what it is for.
struct JobGroup {
  std::string dimension;    // "data", "tensor", "pipeline", "expert", "expert_data", "default"
  std::string name;         // of the process group: "17"
  std::string description;  // "DATA_PARALLEL_GROUP", "mesh_dp", "undefined"
  std::vector<int> ranks;
};

enum class EventKind : uint8_t {
  kStep,
  kLoader,
  kGarbage,
  kOperator,
  kLaunch,
  kCopyCall,
  kSync,
  kKernel,
  kCopy,
  kCollective
};

struct JobEvent {
  int64_t ts_ns = 0, dur_ns = 0;
  EventKind kind = EventKind::kKernel;
  uint8_t stream = 0;  // of device work, or the thread of host work
  uint16_t name = 0;   // place in the table of names; of a step its number
  uint32_t correlation = 0;
  uint32_t grid = 0;     // blocks; of a copy bytes
  int32_t group = -1;    // of a collective: place in SimulatedJob::groups
  int32_t peer = -1;     // of a send or receive: the other rank
  int64_t elements = 0;  // of a collective: bf16 elements put in, or of a gather per rank
};

struct RankRecord {
  int64_t begins_ns = 0;  // the recorder begins; what began earlier is not in the recording
  std::vector<JobEvent> events{};
};

struct SimulatedJob {
  JobSpec spec{};  // with the drawn layout and severity
  GroupNames names = GroupNames::kMegatron;
  JobTruth truth{};
  std::vector<JobGroup> groups{};
  std::vector<RankRecord> ranks{};
  std::vector<double> host_offset_ns{}, host_drift{};  // clock of the host = true · (1 + drift) + offset
};

SimulatedJob MakeJob(const JobSpec& spec);
// A recording as PyTorch 2.4 and later write it, in JSON.
std::string RecordingOf(const SimulatedJob& job, int rank);
// truth.json.
std::string TruthOf(const SimulatedJob& job);

std::string HostName(int host);
inline int HostOf(int rank) { return rank / kGpusPerHost; }
inline int LeafOf(int rank) { return rank / (kGpusPerHost * kHostsPerLeaf); }
// "3", "8-15", "1,9,17".
std::string RankText(const std::vector<int>& ranks);

}  // namespace gapless::internal::testing
