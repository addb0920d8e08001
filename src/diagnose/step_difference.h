// SPDX-License-Identifier: Apache-2.0
// Why a step of B takes longer or shorter than one of A: the difference of the mean steps, split into causes that add
// up to it to the nanosecond.
//
// Both steps are given in whole nanoseconds: the mean, rounded, and of each part its share, rounded so that the parts
// still add up (largest remainder). Parts of both are matched by name and operator. What differs is then
//
//   kernel_count   (calls of B − calls of A) × mean time of a call, the mean of A's and B's, of kernels that both run
//                  under the same operator: what more calls and longer calls do together goes half to each, so that
//                  from B to A it is the same with the other sign. Where calls and their time change against each other
//                  (the same work in more, shorter calls), the larger of the two has what is left of both
//   clock          of what remains of those, as much as the clocks explain: time in B × (1 − clock of B / clock of A),
//                  at most what remains; where both recorded clocks
//   kernel_time    what remains
//   other_kernels  kernels that one of them does not run, of operators that both have, or of unknown operators
//   operators      work of, and launching by, operators that one of them does not have
//   communication, copies   exposed time
//   loader, launch, sync, host, unknown   idle time; launching after a wait (table step_parts) counts as sync
//
// and without devices operator_count, operator_time, optimizer, checkpoint, garbage and compile in place of these.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/step_ledger.h"

namespace gapless::internal {

enum class CauseKind : uint8_t {
  kKernelTime,
  kKernelCount,
  kOtherKernels,
  kOperators,
  kClock,
  kCommunication,
  kCopies,
  kLoader,
  kLaunch,
  kSync,
  kHost,
  kUnknown,
  kOperatorTime,
  kOperatorCount,
  kOptimizer,
  kCheckpoint,
  kGarbage,
  kCompile,
  kKinds
};
template <>
inline constexpr int64_t kValuesOf<CauseKind> = static_cast<int64_t>(CauseKind::kKinds);
std::string_view NameOf(CauseKind kind);  // "kernel_time", …

enum class Presence : uint8_t { kBoth, kOnlyA, kOnlyB };
template <>
inline constexpr int64_t kValuesOf<Presence> = 3;
std::string_view NameOf(Presence presence);  // "both", "only_a", "only_b"

// A part of a cause. Times and calls are those of a step; of a run without steps of a device.
struct CauseRow {
  std::string name{};  // kernel, kind of copy, operator, call or frame; "": not recorded
  std::string op{};    // innermost operator that launched it
  Presence presence = Presence::kBoth;
  int64_t ns = 0;  // what it adds to the difference
  int64_t a_ns = 0, b_ns = 0;
  double a_calls = 0, b_calls = 0;
  std::string line{};  // of the user's code: in B, else in A
};

struct Cause {
  CauseKind kind{};
  int64_t ns = 0;                // B − A
  std::vector<CauseRow> rows{};  // all that add to it, the largest first; they add up to ns
};

struct StepDifference {
  int64_t a_ns = 0, b_ns = 0;
  std::vector<Cause> causes{};  // those that are not 0, the largest first; they add up to b_ns − a_ns
  bool of_steps = true;         // false: neither marks steps, and the whole recordings are compared

  int64_t ns() const { return b_ns - a_ns; }
};

// An error: one of them has steps and the other has none, or only one used a device.
Result<StepDifference> DifferenceOf(const StepLedger& a, const StepLedger& b);

// Divides each amount by `units` and rounds so that the results add up to the rounded whole.
std::vector<int64_t> SharesOf(std::span<const int64_t> amounts, int64_t units);

}  // namespace gapless::internal
