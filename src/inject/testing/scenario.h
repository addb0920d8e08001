// SPDX-License-Identifier: Apache-2.0
// The scenario of the stand-in for CUPTI, as formulas: the stand-in makes the records from them, and tests compute from
// the same formulas what must come out at the other end.
#pragma once

#include <cstdint>

namespace gapless::internal::inject::testing {

// One launch after the other: a runtime call, the driver's call within it, the kernel. Every tenth also has a copy to
// the device, a memset, a peer copy, a synchronisation, an NVTX range around it, and an allocation.
struct Scenario {
  uint32_t launches = 0;
  uint64_t base_ns = 0;  // on the stand-in's clock
  uint32_t thread = 0;
  uint32_t first = 0;  // number of the first launch, to play in several parts

  static constexpr uint64_t kPeriodNs = 100'000;
  static constexpr uint64_t kCallNs = 7'001, kKernelNs = 50'003, kCopyNs = 9'000, kMemsetNs = 3'000, kSyncNs = 5'000;
  // The stand-in's clock is behind the wall clock by this.
  static constexpr int64_t kClockBehindNs = 1'234'567'890'123;
  static constexpr uint32_t kNames = 3;

  uint64_t CallStart(uint32_t i) const { return base_ns + i * kPeriodNs; }
  uint64_t KernelStart(uint32_t i) const { return CallStart(i) + 20'000; }
  static uint32_t Correlation(uint32_t i) { return 1000 + i * 4; }
  static uint32_t Stream(uint32_t i) { return i % 3 == 0 ? 7 : 13; }
  static uint32_t Grid(uint32_t i) { return 1 + i % 4000; }
  static bool IsTenth(uint32_t i) { return i % 10 == 0; }
  static uint64_t CopyBytes(uint32_t i) { return 4096 + i; }
};

// As CUPTI gives them, mangled, and as they are shown.
inline constexpr const char* kMangled[Scenario::kNames] = {
    "_Z5saxpyifPfS_", "_ZN7cutlass6KernelI18ampere_s1688gemm_tEEvT_", "volta_sgemm_128x64_nn"};
inline constexpr const char* kReadable[Scenario::kNames] = {
    "saxpy(int, float, float*, float*)", "void cutlass::Kernel<ampere_s1688gemm_t>(ampere_s1688gemm_t)",
    "volta_sgemm_128x64_nn"};

}  // namespace gapless::internal::inject::testing
