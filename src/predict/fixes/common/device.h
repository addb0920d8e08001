// SPDX-License-Identifier: Apache-2.0
// The GPU that a recording ran on, and how much faster matrix work can be in another type on it.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/device_peaks.h"
#include "predict/fix.h"
#include "predict/fixes/common/op_inputs.h"

namespace gapless::internal {

// Returns the numbers of the devices that have operations, sorted, each once.
std::vector<int32_t> WorkedDevices(const Trace& trace);

// Returns the figures of the first device of the recording that worked and is in the table of devices; else nullptr.
const DevicePeaks* RecordedDevice(const Trace& trace);

// The remaining share of matrix work's time in a faster type: with little, usual and much speedup, if the device has
// `ratio` times the arithmetic for that type. A device with a small ratio saves less of each; the best case is its
// ratio. `ratio` NaN: the device is not known, and nothing limits the three.
double LeftOfMatrixWork(Estimate estimate, double little, double expected, double much, double ratio);

// A bound on what can be left of a product of which the inputs were recorded: at `tflops` and at the bandwidth of the
// device, with `bytes_share` of its bytes, it takes that share of its recorded time at least; 0: not known.
class ProductBound {
 public:
  ProductBound(const Trace& trace, const DevicePeaks* device, double tflops, double bytes_share)
      : trace_(trace), inputs_(trace), device_(device), tflops_(tflops), bytes_share_(bytes_share) {}
  double Of(uint32_t op);

 private:
  const Trace& trace_;
  OpInputs inputs_;
  const DevicePeaks* device_;
  double tflops_, bytes_share_;
};

}  // namespace gapless::internal
