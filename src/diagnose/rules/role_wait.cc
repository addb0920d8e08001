// SPDX-License-Identifier: Apache-2.0
// In a job of several programs (a trainer, servers that generate what it trains on, a model that rewards it) a role's
// devices idle while another role works. Each role that idles so for kLeastShare of its devices' time is reported with
// the role that works meanwhile; of several the one that alone explains most. The gain: iterations that overlap (the
// next batch is generated while this one is trained on) hide at most what the role waits; we expect half of what only
// that other role explains, and promise a tenth. These shares are assumptions.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analyses/rows/roles.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/rule.h"

namespace gapless::internal::role_wait_rule {
namespace {

constexpr double kLeastShare = 0.1;

constexpr std::string_view kNeeds[] = {"ledger", "roles", "role_waits"};

// Rows of all recorded time, by role: that of the role that works alone most while it idles.
std::map<std::string_view, size_t> LongestWaits(const RoleWaitsRows& waits) {
  std::map<std::string_view, size_t> longest;
  for (size_t row = 0; row < waits.rows(); ++row) {
    if (!waits.IsNull(row, "iteration")) continue;
    const auto [at, is_new] = longest.try_emplace(waits.Text(row, "role"), row);
    if (waits.Int(row, "alone_ns") > waits.Int(at->second, "alone_ns")) at->second = row;
  }
  return longest;
}

std::string TimeOf(const RolesRows& roles, size_t row) {
  const int64_t devices = roles.Int(row, "devices");
  return devices > 0 ? FormatCounted(devices, "GPU")
                     : FormatCounted(roles.Int(row, "processes"), "process", "processes");
}

bool One(const RolesRows& roles, size_t row) {
  return roles.Int(row, "devices") + (roles.Int(row, "devices") == 0 ? roles.Int(row, "processes") : 0) == 1;
}

Evidence InIterations(const RoleWaitsRows& waits, size_t pair) {
  std::vector<int64_t> lengths, own;
  for (size_t row = 0; row < waits.rows(); ++row) {
    const bool same = waits.Text(row, "role") == waits.Text(pair, "role") &&
                      waits.Text(row, "waits_for") == waits.Text(pair, "waits_for");
    if (same && !waits.IsNull(row, "iteration"))
      lengths.push_back(waits.Int(row, "dur_ns")), own.push_back(waits.Int(row, "wait_ns"));
  }
  if (lengths.empty()) return {};
  const auto median = [](std::vector<int64_t>& all) {
    std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
    return all[all.size() / 2];
  };
  const int64_t wait = median(own);
  return {
      .text = StrCat(FormatCounted(static_cast<int64_t>(lengths.size()), "iteration"), " of the job, of ",
                     FormatDuration(median(lengths)), "; ", waits.Text(pair, "role"), " idles ", FormatDuration(wait),
                     " in each of them while ", waits.Text(pair, "waits_for"), " works (medians)"),
      .value = static_cast<double>(wait),
      .unit = "ns",
      .table = "role_waits"};
}

Evidence LedgerOf(const RolesRows& roles, size_t row) {
  const int64_t wall = std::max<int64_t>(1, roles.Int(row, "wall_ns"));
  const auto share = [&](int64_t ns) { return FormatPercent(static_cast<double>(ns) / static_cast<double>(wall)); };
  return {
      .text = StrCat(roles.Text(row, "role"), " (", TimeOf(roles, row), "): busy ", share(roles.Int(row, "busy_ns")),
                     ", waiting for other roles ", share(roles.Int(row, "waiting_ns")), ", idle otherwise ",
                     share(roles.Int(row, "idle_ns") - roles.Int(row, "waiting_ns"))),
      .value = static_cast<double>(roles.Int(row, "busy_ns")),
      .unit = "ns",
      .table = "roles"};
}

Bottleneck Describe(const RolesRows& roles, size_t row, const RoleWaitsRows& waits, size_t pair) {
  const std::string role(waits.Text(pair, "role")), other(waits.Text(pair, "waits_for"));
  const int64_t wall = roles.Int(row, "wall_ns"), wait = waits.Int(pair, "wait_ns"),
                alone = waits.Int(pair, "alone_ns");
  Bottleneck found;
  found.share_of_step = static_cast<double>(wait) / static_cast<double>(wall);
  found.title = StrCat(role, " waits for ", other, ": its ", TimeOf(roles, row), One(roles, row) ? " idles " : " idle ",
                       FormatPercent(static_cast<double>(wait) / static_cast<double>(wall)), " of the time");
  found.description = StrCat("For ", FormatDuration(wait), " of ", FormatDuration(wall), " of its ",
                             roles.Int(row, "devices") > 0 ? "GPU" : "process", " time ", role, " does nothing while ",
                             other, " works; for ", FormatDuration(alone), " of that no other role works.");
  found.evidence.push_back(InIterations(waits, pair));
  for (size_t each = 0; each < roles.rows(); ++each) found.evidence.push_back(LedgerOf(roles, each));
  found.recommendations.push_back({StrCat("let the roles overlap: ", other, " works on the next batch while ", role,
                                          " works on this one (one-step-off or asynchronous), or give ", other,
                                          " more of the job's devices than ", role),
                                   "", "", "days"});
  found.gain = EstimateGain({.wall_ns = wall,
                             .low_ns = static_cast<double>(alone) * 0.1,
                             .expected_ns = static_cast<double>(alone) * 0.5,
                             .high_ns = static_cast<double>(wait),
                             .confidence = 0.3});
  return found;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const auto roles = tables.Get<RolesRows>();
  const auto waits = tables.Get<RoleWaitsRows>();
  const std::map<std::string_view, size_t> longest = LongestWaits(waits);
  std::vector<Bottleneck> found;
  // Only the leading role's waiting is a gain of the job's iteration; that of the others is their ledger.
  for (size_t row = 0; row < roles.rows(); ++row) {
    const auto pair = longest.find(roles.Text(row, "role"));
    if (roles.Int(row, "leads") == 0 || pair == longest.end() || roles.Int(row, "wall_ns") <= 0) continue;
    const double share =
        static_cast<double>(waits.Int(pair->second, "wait_ns")) / static_cast<double>(roles.Int(row, "wall_ns"));
    if (share >= kLeastShare) found.push_back(Describe(roles, row, waits, pair->second));
  }
  return found;
}

}  // namespace

RULE(role_wait) = {
    .id = "role_wait",
    .type = BottleneckType::kHostBound,
    .title = "A role of the job waits for another",
    .why =
        "In a job of several programs (--role, Ray's actors, or what the program says) the time in which "
        "the devices of the leading role idle for 5 ms or more while another role works. All roles are "
        "looked at in the stretch that every one of them recorded. Reported if it takes a tenth of the "
        "leading role's device time; the role that is named is the one that alone is at work for most of "
        "it.",
    .saves = "1/10 of it; half of the time in which that role alone works; all of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::role_wait_rule
