// SPDX-License-Identifier: Apache-2.0
// What the unit of a value says: whether it is a time, and whether more is better. Tools write units as they like; what
// is not known here keeps its unit, and no direction is made up for it.
#include <algorithm>
#include <cctype>
#include <string>

#include "store/result_reader.h"

namespace gapless::internal {
namespace {

struct TimeUnit {
  std::string_view name;
  double seconds;
};
constexpr TimeUnit kTimes[] = {
    {"s", 1},       {"sec", 1},     {"secs", 1},           {"second", 1},          {"seconds", 1},
    {"ms", 1e-3},   {"msec", 1e-3}, {"millisecond", 1e-3}, {"milliseconds", 1e-3}, {"us", 1e-6},
    {"usec", 1e-6}, {"µs", 1e-6},   {"μs", 1e-6},          {"microsecond", 1e-6},  {"microseconds", 1e-6},
    {"ns", 1e-9},   {"nsec", 1e-9}, {"nanosecond", 1e-9},  {"nanoseconds", 1e-9},  {"min", 60},
    {"minutes", 60}};
constexpr std::string_view kSizes[] = {"b", "byte", "bytes", "kb", "kib", "mb", "mib", "gb", "gib"};
constexpr std::string_view kPerTime[] = {"/s", "/sec", "/second", "/ms", "/us", "/min", "per second", "per sec"};
constexpr std::string_view kRates[] = {"fps", "flops", "gflops", "tflops", "qps", "rps", "tps", "hz"};

std::string Lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

}  // namespace

// "ns/iter" and "ms/op" are times, too: what they are per is one of the thing measured.
std::optional<double> SecondsIn(std::string_view unit) {
  const std::string name = Lower(unit);
  const std::string_view time = std::string_view(name).substr(0, name.find('/'));
  for (const TimeUnit& known : kTimes)
    if (time == known.name) return known.seconds;
  return std::nullopt;
}

std::optional<bool> HigherIsBetterBy(std::string_view unit) {
  if (SecondsIn(unit)) return false;
  const std::string name = Lower(unit);
  if (std::ranges::find(kSizes, name) != std::end(kSizes)) return false;
  if (std::ranges::find(kRates, name) != std::end(kRates)) return true;
  for (const std::string_view per : kPerTime)
    if (name.ends_with(per)) return true;
  return std::nullopt;
}

}  // namespace gapless::internal
