// SPDX-License-Identifier: Apache-2.0
// Decides whether two trainings are the same up to rounding. docs/parity.md describes the runs and the
// rule; this is its only implementation: numbers in, verdict out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/precision.h"
#include "gapless/safety.h"

namespace gapless::internal {

inline constexpr size_t kSketchWidth = 64;

// The unit of a precision is the relative size of one rounding.
std::string_view NameOf(Precision precision);  // "fp32", "tf32", "fp16", "bf16", "int8"
std::optional<Precision> PrecisionNamed(std::string_view name);
double UnitOf(Precision precision);        // fp32: 2^-20, what other orders of a sum differ by
double ProbeNoiseOf(Precision precision);  // noise of the probe that the claim is held against: 2^-11, bf16 2^-9

// A tensor's norm, and 64 signed sums of its elements.
struct TensorPrint {
  double norm = 0;
  std::array<double, kSketchWidth> sketch{};
};

// One step of one optimiser. Absent fields were not recorded.
struct ParityEvent {
  size_t optimizer = 0;  // numbered in the order in which they first step
  std::string optimizer_class{};
  std::vector<std::map<std::string, std::string, std::less<>>> settings{};  // by parameter group: name -> JSON text
  std::vector<size_t> missing{};                                            // indices of tensors without a gradient
  std::optional<int64_t> samples{};
  std::optional<uint32_t> rows{}, order{}, random{}, start{}, state{};
  std::vector<double> inputs{};                 // mean, standard deviation and roughness; empty: not known
  bool draws = false;                           // random numbers were drawn since the event before
  std::vector<std::optional<double>> losses{};  // nullopt: not finite
  bool finite = true;
  std::optional<std::vector<double>> shadow{};  // by tensor; absent: the optimiser has no shadow
  std::string no_shadow{};
  bool skipped = false, handed = false, recurrent = false;
  bool by_hand = false;  // the program updates its parameters by hand: only losses and state were recorded
  std::optional<Precision> precision{};  // the coarsest that the program computes in by itself; of a first event
  std::vector<TensorPrint> gradients{}, buffers{};
  std::vector<TensorPrint> starts{};                 // parameters before the first update; of a first event
  std::vector<std::string> names{}, buffer_names{};  // names in the first event of an optimiser
};

// Facts about a training, beside what its steps do: lists of texts by kind ("transform") and name ("loader 1,
// transform").
using ProgramFacts = std::map<std::string, std::map<std::string, std::vector<std::string>, std::less<>>, std::less<>>;

struct ParityRecording {
  std::vector<ParityEvent> events{};
  ProgramFacts program{};  // empty: not known
  double noise = 0;        // noise of a probe
  bool wide = false;       // a probe with noise on the state of recurrent layers too
};

// The recordings of A. Probes by the size of their noise; a wide one replaces the narrow one of its size where it is
// larger.
struct ParityBaseline {
  ParityRecording baseline{};
  std::vector<ParityRecording> probes{};
  std::optional<ParityRecording> repeat{};  // A once more, unchanged
  std::vector<ParityRecording> reseeded{};  // A with other random numbers
};

enum class ParityVerdict : uint8_t { kExact, kRounding, kSameDistribution, kOtherTraining, kCannotTell };
std::string_view NameOf(
    ParityVerdict verdict);  // "exact", "rounding", "same_distribution", "other_training", "cannot_tell"

// A run that would decide what these recordings cannot.
enum class ParityNeed : uint8_t { kNothing, kProbe, kWideProbe, kRepeat, kReseeded };

struct ParityReport {
  ParityVerdict verdict = ParityVerdict::kCannotTell;
  ParityNeed need = ParityNeed::kNothing;  // with kCannotTell
  double need_noise = 0;                   // noise of the probe that is needed
  Precision precision = Precision::kFp32;  // precision claimed for kRounding
  std::string reason{};                    // one sentence without a full stop, for a person
  std::optional<size_t> step{};            // from 1: where it shows first
  std::string tensor{};                    // name of the parameter or buffer that decided
  std::string test{};                      // id of the test that decided: "settings", "update", "typical", …
  std::optional<double> value{}, limit{};  // that the test compared
  std::optional<double> seen_from{};       // smallest difference, as a share, that nine of ten such comparisons see
  std::vector<std::string> differences{};  // between what the two programs are, a sentence part each
  size_t steps = 0;                        // that were compared
  bool repeats = true;                     // false: A itself does not repeat bit for bit
};

// Returns the safety that a user may allow: "exact", "rounding", "stochastic" or "training"; absent for other names.
std::optional<Safety> SafetyNamed(std::string_view name);
// If no decision is possible, everything but kExact is; where A itself does not repeat, nothing finer than rounding can
// be asked of a change.
bool IsAllowed(const ParityReport& report, Safety allowed);

// Returns true for the same training: exact, up to rounding, or with other random numbers.
bool IsSameTraining(const ParityReport& report);

// Compares the candidate with the baseline under the claim that it computes in `precision`; a program that computes in
// a coarser one by itself is held to that. kCannotTell with a `need` asks for one run more; without one it says why
// no decision is possible. `exact`: the caller has to know whether A repeats itself where the candidate is not exact.
ParityReport DecideParity(const ParityBaseline& baseline, const ParityRecording& candidate, Precision precision,
                          bool exact = false);

// The same for a candidate without a claim: the finest precision under which it is the same.
ParityReport FindParity(const ParityBaseline& baseline, const ParityRecording& candidate);

}  // namespace gapless::internal
