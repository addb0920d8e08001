// SPDX-License-Identifier: Apache-2.0
// The tests of docs/parity.md, in groups. Each looks at the recordings alone; parity.cc puts them in order.
#pragma once

#include <optional>
#include <span>

#include "validate/parity.h"

namespace gapless::internal {

// Limits of the rule: chosen on ten trainings at one seed, held on others (docs/parity.md has the error rates).
inline constexpr double kMaxUpdateResidual = 2e-4;  // harmless 1e-7, the smallest harm 1e-3
inline constexpr double kMaxTypical = 5;            // harmless up to 3.0
inline constexpr double kMaxTensor = 8;             // harmless up to 5.1
inline constexpr double kMaxWorst = 5;              // where the claim is as coarse as the probe
inline constexpr double kMaxScale = 0.0125;         // rounding to bf16 up to 0.010, harm from 0.02
inline constexpr double kMaxLossUnits = 16;         // harmless up to 0.11 of it
inline constexpr double kMaxBufferNoise = 4, kMaxBufferUnits = 8;
inline constexpr double kTensorFloor =
    0.1;  // tensor floor of the noise of all tensors: the least that one tensor is held against
inline constexpr double kNoiseFloor =
    0.02;  // minimum noise in the unit: smaller noise would make any difference look large
inline constexpr double kMinEnergy =
    1e-3;  // minimum energy of a tensor, as a share of all gradients: smaller tensors have no scale
// Steps with a finite loss that a loss scale of 2^16 may take to fit fp16: two of ten trainings at seed 0 skip one or
// two, in their first eight steps.
inline constexpr size_t kMaxSkipped = 6;
inline constexpr double kMargin = 0.05, kMinMean = 0.01, kDifferentErrors = 2.6, kSameErrors = 1.7,
                        kNeededErrors = 2.93;

// Steps see little of some differences between two programs. What one does to such a difference depends on what steps
// showed.
enum class Weight : uint8_t {
  kDecides,  // it draws random numbers or takes samples: where steps can be compared as distributions alone, it decides
  kLater,    // it may act after the steps that were compared
  kCode,     // another text for what may be the same
};
struct ProgramDifference {
  Weight weight = Weight::kCode;
  std::string what{};  // "RandomHorizontalFlip(p=0.5) of loader 1, transform is missing"
};
// Compares what the programs are. Empty if either is not known.
std::vector<ProgramDifference> CompareProgram(const ProgramFacts& was, const ProgramFacts& is);

// Puts the differences into the report, and changes its verdict where steps could not have shown what they do.
void WeighProgram(const std::vector<ProgramDifference>& differences, ParityReport& report);

// Tests 1 to 3: what must hold whatever is rounded: losses are finite, optimisers step with the same settings, on as
// many samples, with the same gradients missing, and their updates follow from the gradients. Absent: all hold.
std::optional<ParityReport> CheckHard(const ParityRecording& baseline, const ParityRecording& candidate,
                                      Precision precision);

// Test 4: the first step with other parameters to start from, other samples or other random numbers, in words.
struct OtherRandomness {
  size_t step = 0;  // from 1
  std::string what{};
};
std::optional<OtherRandomness> FindOtherRandomness(const ParityRecording& baseline, const ParityRecording& candidate);

// Estimates the norm of the difference of two tensors from their sketches.
double Distance(const TensorPrint& a, const TensorPrint& b);

// Test 5.
bool IsExact(const ParityRecording& baseline, const ParityRecording& candidate);

// Tests 6 to 11. What rounding may do is the larger of all `probes` (each scaled from its noise to the unit) and of
// `repeat`. The report is kRounding or kOtherTraining.
ParityReport CheckRounding(const ParityRecording& baseline, std::span<const ParityRecording* const> probes,
                           const ParityRecording* repeat, const ParityRecording& candidate, Precision precision);

// Other random numbers: are loss and gradient norm the same on average (two one-sided tests)? kSameDistribution,
// kOtherTraining or kCannotTell.
ParityReport CheckDistribution(const ParityRecording& baseline, std::span<const ParityRecording> reseeded,
                               const ParityRecording& candidate, const OtherRandomness& other);

// Returns the number of events, from the first on, that start from the same parameters as the baseline's.
size_t ComparableEvents(const ParityRecording& baseline, const ParityRecording& candidate);

// The name that the optimiser's first event gave a tensor; "tensor 3" without one.
std::string TensorName(const ParityRecording& baseline, size_t optimizer, size_t index);
std::string BufferName(const ParityRecording& baseline, size_t optimizer, size_t index);

// Two significant digits: "1.9 %", "0.0015 %".
std::string FormatShare(double share);

// The sum of the losses of an event, which accumulation splits into parts; absent if no part was recorded or one is not
// finite.
std::optional<double> LossOf(const ParityEvent& event);

}  // namespace gapless::internal
