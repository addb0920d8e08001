// SPDX-License-Identifier: Apache-2.0
// Host work that is there to launch: operators with work of a device in them, and the short stretches between.
#pragma once

#include <cstdint>
#include <vector>

#include "predict/what_if.h"

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
  bool LaunchesAnything() const { return launches_anything_; }

 private:
  const Trace& trace_;
  std::vector<uint8_t> launches_, libraries_, loading_;  // by slice: something inside it does
  bool launches_anything_ = false;
};

}  // namespace gapless::internal
