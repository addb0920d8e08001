// SPDX-License-Identifier: Apache-2.0
// The outline of a run, to be compared with another one: its operators by path, name and shapes, its kernels by
// operator and name, its memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "diagnose/step_difference.h"

namespace gapless::internal {

// An operator or a kernel with all of its calls in the analysed window, over all processes and devices.
struct OutlineRow {
  std::string path{};  // operators around it, outermost first: "a > b"; of a kernel with the one that launched it
  std::string name{};
  std::string shapes{};  // of the operator's inputs, as recorded; empty: not recorded
  int64_t calls = 0;
  int64_t ns = 0;         // sum of durations: of the host for an operator, of the device for a kernel
  int64_t device_ns = 0;  // of an operator: sum of the work that it launched itself
};

struct OutlineMemory {
  std::optional<int64_t> device{};  // absent: the host's
  std::optional<int64_t> peak_allocated_bytes{}, peak_reserved_bytes{};
  std::optional<double> allocations{};  // a step
};

struct RunOutline {
  std::vector<OutlineRow> operators{}, kernels{};
  std::vector<OutlineMemory> memory{};  // most of the ranks, by device
};

RunOutline OutlineOf(Tables& tables);

// A row of both, per step (StepLedger::Units); what one of them does not have is 0 there.
struct OutlineChange {
  std::string path{}, name{}, shapes{};
  Presence presence = Presence::kBoth;
  double a_calls = 0, b_calls = 0;
  int64_t a_ns = 0, b_ns = 0;
  std::optional<int64_t> a_device_ns{}, b_device_ns{};  // of operators
  int64_t ns() const { return b_ns - a_ns; }
};
// The largest change first; rows that are equal in both are left out. `units`: what calls and times are divided by.
std::vector<OutlineChange> ChangesOf(const std::vector<OutlineRow>& a, int64_t a_units,
                                     const std::vector<OutlineRow>& b, int64_t b_units, bool are_operators);

}  // namespace gapless::internal
