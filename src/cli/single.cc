// SPDX-License-Identifier: Apache-2.0
// Parses --single: a recording, whose step time is read, or a time with a unit. A file of that name wins over a time.
#include "cli/single.h"

#include <charconv>
#include <cmath>
#include <filesystem>

#include "base/strings.h"
#include "diagnose/findings.h"
#include "ingest/load.h"

namespace gapless::internal {
namespace {

// Reads a recording only for its median step; no rule runs.
Result<int64_t> StepOfRecording(const std::string& path, bool use_cache, const Session& session) {
  GAPLESS_ASSIGN(const auto loaded,
                 LoadRun(std::span(&path, 1), {.use_cache = use_cache, .cancel_flag = session.cancel}));
  Tables tables(loaded.run);
  const RunSummary summary = Summarise(tables, {});
  if (!summary.step_ns)
    return Fail(ErrorCode::kInput, "cannot compute the scaling: the recording has no complete step", path,
                "give the step time instead: --single 118ms");
  return summary.step_ns->median;
}

}  // namespace

// A unit is required: a bare number could be seconds or milliseconds.
std::optional<int64_t> ParseTimeNs(std::string_view text) {
  struct Unit {
    std::string_view name;
    double ns;
  };
  static constexpr Unit kUnits[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  constexpr double kMaxNs = 1e18;
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || !std::isfinite(value) || value <= 0) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  for (const Unit& item : kUnits)
    if (unit == item.name && value * item.ns < kMaxNs) return std::llround(value * item.ns);
  return std::nullopt;
}

Result<int64_t> SingleStepNs(const std::string& single, bool use_cache, const Session& session) {
  std::error_code ignored;
  // A folder or an archive counts, too.
  if (std::filesystem::exists(single, ignored)) return StepOfRecording(single, use_cache, session);
  if (const auto time = ParseTimeNs(single)) return *time;
  return Fail(ErrorCode::kUsage, StrCat("'", Printable(single), "' is neither a recording nor a time"), "--single",
              "--single one_gpu.json, or --single 118ms");
}

}  // namespace gapless::internal
