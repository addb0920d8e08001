// SPDX-License-Identifier: Apache-2.0
// Decides whether a program that infers answers the same with a change (docs/parity.md): numbers in, verdict out.
//
// Both programs get the same inputs. The error of an output is its difference from the unchanged program's, as a share
// of the standard deviation of the latter. It is held to what a probe differs by: the unchanged program with weights
// that have noise of the size of one rounding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "validate/parity.h"

namespace gapless::internal {

// The record of a tensor that goes into a call or comes out of it.
struct TensorRecord {
  std::string name{};  // "logits", "input_ids"; empty: the only one
  std::string shape{}, type{};
  bool whole = false;  // whole numbers, which have a checksum alone
  uint32_t code = 0;   // checksum of its bytes
  bool finite = true;
  std::vector<double> samples{};  // some of its elements, the same ones in all recordings
};

// One call of the model.
struct CallRecord {
  bool goes_on = false;  // it continues the text of the call before
  std::vector<TensorRecord> inputs{}, outputs{};
  std::vector<int64_t> choices{};  // the largest of each row of the first output: the next token, or the class
};
using OutputRecording = std::vector<CallRecord>;

// A recording of the unchanged program whose weights had noise of that size.
struct OutputProbe {
  double noise = 0;
  OutputRecording calls{};
};

struct OutputBaseline {
  OutputRecording calls{};
  std::vector<OutputProbe> probes{};
};

// Compares the candidate with the baseline under the claim that it computes in `precision`. kCannotTell with a `need`
// asks for the probe of that noise.
ParityReport DecideOutputs(const OutputBaseline& baseline, const OutputRecording& candidate, Precision precision);

}  // namespace gapless::internal
