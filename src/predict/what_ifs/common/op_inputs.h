// SPDX-License-Identifier: Apache-2.0
// What operators were given, and the work that follows from it.
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
  // Of an operator; empty: not recorded, or `op` is not valid.
  const std::vector<Input>& Of(SliceId op);
  // Of its first operand of a floating type, else of the operator around it; kUnknown: none was recorded.
  ElementType TypeOf(SliceId op);
  // By its formula; all NaN: there is none, or its inputs do not tell.
  Work WorkOf(SliceId op);

 private:
  const Trace& trace_;
  std::map<std::tuple<StringId, StringId, StringId>, std::vector<Input>> known_{};  // by shapes, types, values
};

// Returns, by GPU operation, 1 for matrix work that is not known to run on matrix units and multiplies float32: by the
// name of the kernel, else by the operator that launched it. Work of which neither tells the type counts.
std::vector<uint8_t> Float32OffUnits(const Trace& trace);

}  // namespace gapless::internal
