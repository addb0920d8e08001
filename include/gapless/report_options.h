// SPDX-License-Identifier: Apache-2.0
// Options for a report. Every option has a default; new members come at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gapless {

// Prices of GPU time and energy. Absent values are unknown.
struct CostRates {
  std::optional<double> price_per_gpu_hour{};  // in whatever money
  std::optional<double> carbon_g_per_kwh{};    // carbon intensity of the grid
  std::optional<double> watts_per_gpu{};       // mean while training; otherwise the board's limit
  std::optional<int64_t> gpus{};  // GPUs of the job; absent: the ranks of the job, at least the devices recorded
  std::optional<int64_t> steps_per_epoch{};  // none: nothing is said per epoch
  double hours_per_month = 730;              // that the job runs; the default is always: 365 days of 24 h over 12

  bool any() const { return price_per_gpu_hour || carbon_g_per_kwh || watts_per_gpu; }
};

// Inputs of a report beyond the recording.
struct AnalyzeOptions {
  std::vector<std::string> only{};          // ids of rules: show only what these find; empty: all
  std::vector<std::string> without{};       // ids of rules: leave out what these find
  std::optional<int64_t> single_step_ns{};  // step time of the same job on one GPU, for the scaling efficiency
  CostRates rates{};                        // with any of them a report says what fixes would save
};

// The layout of a report.
struct RenderOptions {
  int width = 80;  // columns to fill at most
  bool colour = false;
  bool utf8 = true;      // false: ASCII only
  bool verbose = false;  // also what is usually left out
};

// A form of report: "terminal", "markdown", "json" …
struct FormatInfo {
  std::string name;
  std::string help;  // one line
};

}  // namespace gapless
