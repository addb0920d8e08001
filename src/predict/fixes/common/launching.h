// SPDX-License-Identifier: Apache-2.0
// Host work that is there to launch: operators with work of a device in them, and the short stretches between.
#pragma once

#include <cstdint>
#include <vector>

#include "predict/fix.h"

namespace gapless::internal {

enum class HostPart : uint8_t {
  kLaunching,  // an operator with work of a device in it, its calls, or a short one without (a view, a check)
  kBetween,    // a short stretch outside of operators: the Python that calls them
  kOther,      // computation, loading, long Python, copies: it stays whoever launches
};

class HostParts {
 public:
  explicit HostParts(const Trace& trace);
  HostPart Of(const Edge& edge, int64_t ns) const;
  // Returns true if products, convolutions, attention or an exchange are launched inside this slice.
  bool LaunchesLibraries(uint32_t slice) const { return libraries_[slice] != 0; }
  // Kernels with a launch in the whole recording.
  size_t launched_kernels() const { return launched_kernels_; }

 private:
  const Trace* trace_;
  std::vector<uint8_t> launches_, libraries_;  // by slice: something inside it does
  std::vector<uint8_t> loading_;               // by slice: it loads a batch, or the code of a kernel
  std::vector<uint8_t> is_own_work_;           // by slice: IsOwnWork
  size_t launched_kernels_ = 0;
};

HostParts FindHostParts(const Trace& trace);

}  // namespace gapless::internal
