// SPDX-License-Identifier: Apache-2.0
// A SampleSink receives measured values and encodes records of telemetry.gts (wire/telemetry_stream.h) into
// memory. For one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/telemetry_stream.h"

namespace gapless::internal {

class SampleSink {
 public:
  // The number of the series, defined at the first call with this name and device. Names are dotted, lower case; what
  // one of several things a series is about follows a slash: "host.net.receive/eth0".
  uint32_t Series(std::string_view name, std::string_view unit, int32_t device = telemetry::kNoDevice);
  // A value of this moment. NaN and infinities are not written.
  void Value(uint32_t series, double value);
  void Value(std::string_view name, std::string_view unit, double value, int32_t device = telemetry::kNoDevice) {
    Value(Series(name, unit, device), value);
  }
  // A fact that does not change.
  void Text(std::string_view key, std::string_view value);

  // Starts and ends a moment: the values in between become one record (or several, when they are many).
  void BeginSamples(int64_t unix_ns) { unix_ns_ = unix_ns; }
  void EndSamples();
  void End();

  // Whole records, in order; the owner writes them out and clears.
  std::string& bytes() { return bytes_; }
  uint64_t values() const { return values_; }  // written so far

 private:
  void FlushValues();

  std::string bytes_;
  std::map<std::pair<std::string, int32_t>, uint32_t, std::less<>> series_;
  int64_t unix_ns_ = 0;
  std::vector<double> pending_values_;
  std::vector<uint32_t> pending_series_;
  uint64_t values_ = 0;
};

// The header a file of telemetry begins with.
std::string TelemetryFileHeader(int64_t start_unix_ns, int64_t interval_ns);

}  // namespace gapless::internal
