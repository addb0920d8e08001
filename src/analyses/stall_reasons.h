// SPDX-License-Identifier: Apache-2.0
// Why a warp of a measured kernel waits.
#pragma once

#include <string_view>

namespace gapless::internal {

// A reason for which a warp waits, as counters name it, and in words.
struct StallReason {
  std::string_view name, what, advice;
};
inline constexpr StallReason kStallReasons[] = {
    {"barrier", "other warps of the block at a barrier",
     "split the work evenly over the warps of a block, or use smaller blocks"},
    {"branch_resolving", "the target of a branch", "use fewer branches, or predicates instead"},
    {"dispatch_stall", "the dispatcher", "look at the mix of instructions"},
    {"drain", "its last stores", "let neighbouring threads store neighbouring values"},
    {"gmma", "the matrix units", "keep more matrix instructions in flight"},
    {"imc_miss", "constants", "read fewer constants, or the same ones in all threads of a warp"},
    {"lg_throttle", "the queue of global memory", "load several values with one instruction"},
    {"long_scoreboard", "global or local memory",
     "load earlier, keep more loads in flight, keep data in shared memory"},
    {"math_pipe_throttle", "a pipeline of computing that is busy",
     "use more than one kind of instruction, or cheaper ones"},
    {"membar", "a memory barrier", "use fewer or narrower memory fences"},
    {"mio_throttle", "the queue of shared memory", "use fewer and wider accesses of shared memory"},
    {"misc", "something else", "look at the source's lines in Nsight Compute"},
    {"no_instruction", "its next instruction", "make the code smaller, or jump less"},
    {"not_selected", "its turn, as other warps were ready", "fewer warps would do: use more registers for each"},
    {"short_scoreboard", "shared memory or special functions", "avoid conflicts of banks and slow functions"},
    {"sleeping", "the end of its sleep", "sleep less"},
    {"tex_throttle", "the queue of textures", "use fewer texture accesses"},
    {"wait", "a fixed delay of its instruction", "give the compiler independent instructions to put between"},
};

// Returns what a warp waits for in words, by the name that counters or samples have for it; empty: not known.
constexpr std::string_view WaitsFor(std::string_view reason) {
  if (reason == "no_instructions") reason = "no_instruction";  // as samples have it
  for (const StallReason& known : kStallReasons)
    if (known.name == reason) return known.what;
  return "";
}

}  // namespace gapless::internal
