// SPDX-License-Identifier: Apache-2.0
// A profile of the host without a timeline: what it shows by itself.
//
// It says where the program spends its time or memory, not whether anything waited for it, so there is no gain.
// Severity: 0.3, as for whatever else claims no time.
#include <algorithm>
#include <set>

#include "analyses/rows/host_code.h"
#include "analyses/rows/python_lines.h"
#include "analyses/rows/summed_ops.h"
#include "analyses/user_code.h"
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/host_code_view.h"
#include "diagnose/rule.h"

namespace gapless::internal::host_profile_alone_rule {
namespace {

constexpr double kNoted = 0.3;
constexpr double kActivityShare = 0.10;  // ours: from here on a wait is worth a sentence
constexpr double kHotShare = 0.02;       // ours: places below this are noise of a few samples
constexpr size_t kMaxPlaces = 5;
constexpr std::string_view kNeeds[] = {"host_code", "python_lines", "summed_ops"};

bool IsAlone(const Run& run) {
  return !run.traces().empty() && std::ranges::all_of(run.traces(), [](const RunTrace& of) {
    const Trace& trace = *of.trace;
    return trace.host_functions.size() > 0 && trace.slices.size() + trace.gpu_ops.size() == 0;
  });
}

std::string AmountText(const HostCodeRows& code, size_t row) {
  const std::string share = code.IsNull(row, "share") ? "" : FormatPercent(code.Real(row, "share"));
  const std::string amount = !code.IsNull(row, "time_ns") ? FormatDuration(code.Int(row, "time_ns"))
                                                          : FormatCounted(code.Int(row, "samples"), "sample");
  return share.empty() ? amount : StrCat(share, ", ", amount);
}

// The places to name: those of the user's code first, for advice can change them.
std::vector<size_t> PlacesOf(const HostCodeRows& code) {
  std::vector<size_t> rows;
  for (const int64_t users : {1, 0})
    for (size_t row = 0; row < code.rows(); ++row) {
      const bool large = !code.IsNull(row, "share") && code.Real(row, "share") >= kHotShare;
      if (code.Int(row, "is_users") == users && large && rows.size() < kMaxPlaces) rows.push_back(row);
    }
  if (rows.empty() && code.rows() > 0) rows.push_back(0);
  return rows;
}

double ShareOfActivity(const HostCodeRows& code, std::string_view activity) {
  double share = 0;
  for (size_t row = 0; row < code.rows(); ++row)
    if (code.Text(row, "activity") == activity && !code.IsNull(row, "share")) share += code.Real(row, "share");
  return std::min(1.0, share);
}

void SayActivity(const HostCodeRows& code, std::string_view activity, std::string_view words, Recommendation advice,
                 Bottleneck& found) {
  const double share = ShareOfActivity(code, activity);
  if (share < kActivityShare) return;
  found.evidence.push_back({.text = StrCat(words, ": ", FormatPercent(share), " of the profile"),
                            .value = share,
                            .unit = "share",
                            .table = "host_code"});
  if (!advice.text.empty()) found.recommendations.push_back(std::move(advice));
}

std::string_view CannotSay(std::string_view kind) {
  if (kind == "lines")
    return "Times of lines contain what they call, and nothing says when they ran: a summary knows no steps.";
  if (kind == "cprofile") return "It is a sum over the whole run: it knows no steps, and not who waited for it.";
  if (kind == "proton") return "It is a sum by call path: it knows neither steps nor gaps between kernels.";
  return "It says where the host is, not if a GPU waited for it meanwhile.";
}

Bottleneck OfTime(const HostCodeRows& code) {
  Bottleneck found;
  const std::vector<size_t> places = PlacesOf(code);
  const std::string_view kind = code.Text(places[0], "kind");
  const bool kernels = kind == "proton";
  found.severity = kNoted;
  found.type = kernels ? BottleneckType::kKernelEfficiency : BottleneckType::kHostBound;
  found.title = StrCat(HostPlaceText(code, places[0]), kernels ? " takes " : " is ", AmountText(code, places[0]),
                       kernels ? " of the GPU" : " of the profile");
  found.description = StrCat(
      kernels ? "The profile sums up the time of kernels. " : "The profile sums up where the host's threads are. ",
      CannotSay(kind));
  for (const size_t row : places)
    found.evidence.push_back({.text = StrCat(HostPlaceText(code, row), ": ", AmountText(code, row)),
                              .value = code.IsNull(row, "share") ? 0 : code.Real(row, "share"),
                              .unit = "share",
                              .table = "host_code",
                              .source = HostPlaceLine(code, row)});
  SayActivity(code, "loading", "loading data",
              {"make batches in workers of the data loader, so that the training process does not", "",
               "DataLoader(dataset, ..., num_workers=4)", "minutes"},
              found);
  SayActivity(code, "gpu_wait", "waiting for the GPU",
              {"keep values on the GPU until they are needed: each .item() and print waits for it", "", "", "hours"},
              found);
  SayActivity(code, "waiting", "waiting for locks, files, sockets or asleep", {}, found);
  found.recommendations.push_back({"record a timeline of the same run and give both: it shows if a GPU waits for this",
                                   "", "gapless profile -- python train.py", "minutes"});
  return found;
}

Bottleneck OfMemory(const PythonLinesRows& lines) {
  Bottleneck found;
  found.severity = kNoted;
  found.type = BottleneckType::kMemoryAllocation;
  const auto place = [&](size_t row) {
    return Printable(
        StrCat(lines.Text(row, "file"), lines.IsNull(row, "line") ? "" : StrCat(":", lines.Int(row, "line"))));
  };
  found.title = StrCat(place(0), " allocates ", FormatBytes(lines.Int(0, "bytes")), " of the host's memory");
  found.description =
      "The profile sums up memory of the host by line; it has no times, and nothing of the GPU's memory is in it.";
  for (size_t row = 0; row < std::min(lines.rows(), kMaxPlaces); ++row)
    found.evidence.push_back({.text = StrCat(place(row), ": ", FormatBytes(lines.Int(row, "bytes"))),
                              .value = static_cast<double>(lines.Int(row, "bytes")),
                              .unit = "bytes",
                              .table = "python_lines",
                              .source = place(row)});
  found.recommendations.push_back({"for the GPU's memory write a snapshot of PyTorch's allocator", "",
                                   "torch.cuda.memory._dump_snapshot(\"m.pickle\")", "minutes"});
  return found;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  // Sums by operator and kernel are not functions of the host: summary_alone speaks of them.
  if (!IsAlone(tables.run()) || tables.Get<SummedOpsRows>().rows() > 0) return std::vector<Bottleneck>{};
  const auto code = tables.Get<HostCodeRows>();
  if (code.rows() > 0) return std::vector{OfTime(code)};
  const auto lines = tables.Get<PythonLinesRows>();
  if (lines.rows() > 0 && !lines.IsNull(0, "bytes")) return std::vector{OfMemory(lines)};
  return std::vector<Bottleneck>{};
}

}  // namespace

RULE(host_profile_alone) = {
    .id = "host_profile_alone",
    .type = BottleneckType::kHostBound,
    .title = "What a profile of the host shows without a timeline",
    .why =
        "A profile of functions, lines, samples or the host's memory alone, from any tool: the places with most of it, "
        "those of the user's code first, and the share that is data loading, waiting for the GPU or waiting for "
        "something else, from 10 % on. Claims no time. Severity 0.3.",
    .needs = kNeeds,
    .check = Check,
    .types_differ = true};

}  // namespace gapless::internal::host_profile_alone_rule
