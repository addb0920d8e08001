// SPDX-License-Identifier: Apache-2.0
// How large the tensors are that operators got, where shapes were recorded.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace gapless::internal {

struct TensorSize {
  int64_t elements = 0;  // elements of the largest input; 1: scalars only; 0: shapes were not recorded
  int64_t bytes = 0;     // each input read once, and an output like the largest written; 0: types were not recorded
};

// Each distinct text is read once.
class TensorSizes {
 public:
  explicit TensorSizes(const Trace& trace) : trace_(trace), known_(trace.strings.size()) {}
  const TensorSize& Of(SliceId op);

 private:
  struct Known {
    StringId types = StringId::kNone;  // with which the shapes were read last
    bool read = false;
    TensorSize size;
  };
  const Trace& trace_;
  std::vector<Known> known_;  // by text of the shapes
};

}  // namespace gapless::internal
