// SPDX-License-Identifier: Apache-2.0
// The recorder lost operations of the GPU in the time that is analysed.
//
// Idle time is what is left when all operations are taken off. Where some are missing it is known only from above, and
// "the GPU idles for 70 %" would be said of an attention kernel whose time the device did not report. Diagnose drops
// the findings that rest on idle time beside this one, and the summary calls the busy share a lower bound.
#include "analyses/rows/lost_work.h"

#include <algorithm>

#include "base/strings.h"
#include "diagnose/rule.h"
#include "diagnose/screening.h"

namespace gapless::internal::lost_work_rule {
namespace {

// Ours: what so few missing operations take is less than what the estimates of gains are off by.
constexpr double kLostShare = 0.02;

constexpr std::string_view kNeeds[] = {"lost_work"};

struct Lost {
  int64_t all = 0, missing = 0, without_time = 0;
  double share = 0;  // of the recording that lost most
  bool launched = true;
};

Lost Count(const LostWorkRows& rows) {
  Lost lost;
  for (size_t row = 0; row < rows.rows(); ++row) {
    const bool launched = rows.Int(row, "launches") > 0;
    lost.launched = lost.launched && launched;
    lost.without_time += rows.Int(row, "without_time");
    lost.all += launched ? rows.Int(row, "launches") : rows.Int(row, "gpu_ops") + rows.Int(row, "without_time");
    lost.missing += launched ? rows.Int(row, "lost") : rows.Int(row, "without_time");
    if (!rows.IsNull(row, "lost_share")) lost.share = std::max(lost.share, rows.Real(row, "lost_share"));
  }
  return lost;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const Lost lost = Count(tables.Get<LostWorkRows>());
  if (lost.share < kLostShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.severity = 1;
  found.title = StrCat(FormatCount(lost.missing), " of ", FormatCount(lost.all),
                       lost.launched ? " launches have no GPU operation in the recording"
                                     : " GPU operations have no time in the recording");
  found.description =
      "How long the missing operations ran is not known, and the time that they took looks idle. The GPU is busy for "
      "at "
      "least the share that is shown, and nothing is said of why it idles.";
  found.evidence.push_back({.text = StrCat(FormatCount(lost.missing), " of ", FormatCount(lost.all), " are missing"),
                            .value = static_cast<double>(lost.missing),
                            .unit = "operations",
                            .table = "lost_work"});
  if (lost.without_time > 0)
    found.evidence.push_back(
        {.text = StrCat(FormatCounted(lost.without_time, "GPU operation"), lost.without_time == 1 ? " is" : " are",
                        " listed without a time, or with one that cannot be"),
         .value = static_cast<double>(lost.without_time),
         .unit = "operations",
         .table = "lost_work"});
  found.recommendations.push_back(
      {"record again: fewer steps at a time, no other profiler attached, and the steps before the recording as a "
       "warm-up",
       "", "", "minutes"});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(lost_work) = {.id = kLostWork,
                   .type = BottleneckType::kRecording,
                   .title = "The recorder lost work of the GPU",
                   .why =
                       "Launches without a GPU operation, and GPU operations without a usable time, when they are 2 % "
                       "of all in the analysed time of some recording (figure: ours). Then no finding about idle time "
                       "is reported, and the busy share is a lower bound. Steps that lost a tenth of their own work "
                       "are left out before, where others lost less.",
                   .needs = kNeeds,
                   .check = Check};

}  // namespace gapless::internal::lost_work_rule
