// SPDX-License-Identifier: Apache-2.0
#include "diagnose/os_wait_view.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr double kTelling = 0.2;  // share of the stake below which a call explains nothing

struct Waited {
  int64_t host_ns = 0, longest_ns = 0, parts = 0;
};

}  // namespace

std::vector<Evidence> OsWaitEvidence(const OsWaitsRows& waits, int64_t stake_ns, const LedgerView& ledger) {
  std::map<std::string, Waited, std::less<>> calls;
  int64_t off_ns = 0;
  for (size_t row = 0; row < waits.rows(); ++row) {
    const int64_t host_ns = waits.Int(row, "host_ns");
    if (!waits.IsNull(row, "host_off_cpu_ns")) off_ns += waits.Int(row, "host_off_cpu_ns");
    if (waits.IsNull(row, "call")) continue;
    Waited& call = calls[std::string(waits.Text(row, "call"))];
    call.host_ns += host_ns, call.parts += waits.Int(row, "parts");
    call.longest_ns = std::max(call.longest_ns, waits.Int(row, "longest_ns"));
  }
  const auto tells = [&](int64_t ns) {
    return ns > 0 && static_cast<double>(ns) >= kTelling * static_cast<double>(stake_ns);
  };
  std::vector<Evidence> found;
  const auto worst = std::ranges::max_element(calls, {}, [](const auto& call) { return call.second.host_ns; });
  if (worst != calls.end() && tells(worst->second.host_ns))
    found.push_back({.text = StrCat("the launching thread is in ", worst->first,
                                    " of the system's library meanwhile: ", ledger.CostText(worst->second.host_ns),
                                    ", ", FormatCounted(worst->second.parts, "stretch", "stretches"), ", at most ",
                                    FormatDuration(worst->second.longest_ns), " at once"),
                     .value = static_cast<double>(worst->second.host_ns),
                     .unit = "ns",
                     .table = "os_waits"});
  if (tells(off_ns))
    found.push_back({.text = StrCat("the launching thread is on no processor meanwhile: ", ledger.CostText(off_ns)),
                     .value = static_cast<double>(off_ns),
                     .unit = "ns",
                     .table = "os_waits"});
  return found;
}

}  // namespace gapless::internal
