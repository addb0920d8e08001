// SPDX-License-Identifier: Apache-2.0
// The inputs of operators, and the work that follows from them.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "analyses/operator_work.h"
#include "analyses/shapes.h"
#include "trace/trace.h"

namespace gapless::internal {

// Each distinct set of inputs is read once.
class OpInputs {
 public:
  explicit OpInputs(const Trace& trace) : trace_(trace) {}
  // Returns the inputs of an operator; empty if not recorded, or if `op` is not valid.
  const std::vector<Input>& Of(SliceId op);
  // Returns the type of its first floating-point operand, else that of the operator around it; kUnknown if not
  // recorded.
  ElementType TypeOf(SliceId op);
  // Returns the work by the operator's formula; all NaN without a formula, or if its inputs do not suffice.
  Work WorkOf(SliceId op);

 private:
  const Trace& trace_;
  std::map<std::tuple<StringId, StringId, StringId>, std::vector<Input>> known_{};  // by shapes, types, values
};

// Returns, by GPU operation, 1 for matrix work that is not known to run on tensor cores and multiplies float32: by the
// name of the kernel, else by the operator that launched it. Work of unknown type counts.
std::vector<uint8_t> Float32OffUnits(const Trace& trace);

}  // namespace gapless::internal
