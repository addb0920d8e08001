// SPDX-License-Identifier: Apache-2.0
// The process groups of a job, and the dimension of each: as the program names it, else as its traffic shows it.
//
// A group that is not named is
//   pipeline     if its ranks send to each other and receive from each other, and do not all run the same kernels or
//                are more than two: a ring of attention sends one way only;
//   expert       if it exchanges all to all, and its ranks run kernels of a mixture of experts; tables of embeddings
//                and sequences are exchanged all to all, too;
//   tensor       if its ranks share a host and reduce at least four times a step (a microbatch where there are such),
//                mostly one size, hardly ever hidden by compute, and without a long pause in each step;
//   data         if it does not look like that, and reduces at least a megabyte a step, with a pause in each step: the
//                forward pass;
//   expert_data  if it would be data, and with the expert group makes up a larger data group.
// A group that shows none of this stays unknown. Groups of one kind (size, spacing, kinds of collectives) get what most
// of them show.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/parallel_dimension.h"

namespace gapless::internal {

enum class KnownBy : uint8_t { kNothing, kName, kTraffic };
inline constexpr std::string_view kKnownByNames[] = {"", "named", "inferred"};

// GroupTraffic sums what the recorded ranks did in a group; times are of complete steps.
struct GroupTraffic {
  int64_t recordings = 0, steps = 0;  // recordings with steps, and their steps
  int64_t calls = 0, total_ns = 0, exposed_ns = 0;
  int64_t wait_ns = 0, matched = 0;  // of matched calls
  int64_t reduces = 0, gathers = 0, all_to_alls = 0, sends = 0, receives = 0;
  int64_t reduced_bytes = 0, reduce_ns = 0, exposed_reduce_ns = 0;
  int64_t same_size = 0;    // reduces of the size that is most frequent on their rank
  int64_t pauses = 0;       // between reduces: of a fifth of a step and more
  int64_t long_pauses = 0;  // of more than a third
  bool both_ways = false;   // a rank sends to another one and receives from it
  bool expert_kernels = false;
  bool kernels_differ = false;  // between the ranks that were recorded
  double per_step(int64_t count) const {
    return steps > 0 ? static_cast<double>(count) / static_cast<double>(steps) : 0;
  }
};

struct ParallelGroup {
  std::string name{}, description{};
  std::vector<int64_t> ranks{};  // ascending; empty: not known
  int64_t size = 0;
  ParallelDimension dimension = ParallelDimension::kUnknown;
  KnownBy by = KnownBy::kNothing;
  bool one_host = false;    // known to be on one; false also where that is not known
  double microbatches = 1;  // messages a step from one rank to another, at most; 1 without messages
  GroupTraffic traffic{};
  std::vector<size_t> recorded{};  // places in Tables::Timelines() of the members that were recorded

  // Returns the distance between neighbouring ranks; kAbsent: not evenly, or not known.
  int64_t stride() const;
};

// Groups with traffic or a name, in the order of their first ranks; groups of one rank are left out.
struct ParallelGroups {
  std::vector<ParallelGroup> all{};
  // Place in Tables::Timelines(), dimension -> place of the group in `all`; −1: none.
  std::vector<std::array<int, kParallelDimensions>> of{};
};
ParallelGroups ParallelGroupsOf(Tables& tables);  // for Tables::OnceForRun

// Sets the dimensions of groups from their names and traffic.
void InferDimensions(std::vector<ParallelGroup>& groups);

// The cost of the layout for a rank: time in the bubbles of a pipeline, and work over that of the others of its
// experts.
struct ParallelShare {
  double bubble = 0, expert_load = 0;  // NaN: the rank is in no pipeline; it has no experts
};
// Returns the share of each place in Tables::Timelines(); for Tables::OnceForRun.
using ParallelShares = std::vector<ParallelShare>;
ParallelShares ParallelSharesOf(Tables& tables);

// PipelineFill says how the pipeline of a job fills and drains. A step begins with the first stage alone at work and
// ends so: with p even stages and m microbatches (p − 1) ÷ (m + p − 1) of it is lost on each rank. Interleaved stages
// send a message for each of a rank's parts, so that for them a microbatch is one of one part.
struct PipelineFill {
  int64_t stages = 0;       // 0: there is no pipeline
  double microbatches = 0;  // messages a step from one stage to the next; 0: not known
  // Time in a step that all stages but the busiest take for a microbatch, with their messages both ways. A stage that
  // was not recorded counts as the mean of those that were. 0: not known.
  double fill_ns = 0;
};
PipelineFill PipelineFillOf(Tables& tables);  // for Tables::OnceForRun

}  // namespace gapless::internal
