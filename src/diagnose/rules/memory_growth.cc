// SPDX-License-Identifier: Apache-2.0
// Memory grows all through the run: the program keeps something of every step.
//
// That costs no time by itself, so there is no gain: it is what ends the run. Severity goes by how soon: 0.5, and 0.75
// where what is free would be full within an hour.
#include <cmath>
#include <optional>

#include "analyses/rows/kept_memory.h"
#include "analyses/rows/memory_trend.h"
#include "base/series_trend.h"
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/rule.h"

namespace gapless::internal::memory_growth_rule {
namespace {

// Ours: caches of Python, of the allocator and of the profiler grow by less.
constexpr double kMinGrownBytes = 100e6, kMinGrownShare = 0.10;
constexpr double kSoonSeconds = 3600, kSecondsPerMinute = 60, kNsPerSecond = 1e9;

constexpr std::string_view kNeeds[] = {"memory_trend", "kept_memory"};
constexpr size_t kMaxPlaces = 3;  // named

double GrownBytes(const MemoryTrendRows& table, size_t row) {
  return table.Real(row, "last_bytes") - table.Real(row, "second_bytes");
}

bool IsGrowing(const MemoryTrendRows& table, size_t row) {
  const SeriesTrend trend{{table.Real(row, "first_bytes"), table.Real(row, "second_bytes"),
                           table.Real(row, "third_bytes"), table.Real(row, "last_bytes")},
                          table.Real(row, "slope_bytes_s"),
                          table.Real(row, "rank_correlation")};
  const double grown = GrownBytes(table, row);
  return GrowsSteadily(trend, 1) && grown >= kMinGrownBytes && grown >= kMinGrownShare * trend.quarters[1];
}

// Returns the row of the memory, the host's or a device's, that grows fastest.
std::optional<size_t> MostGrown(const MemoryTrendRows& table) {
  std::optional<size_t> most;
  for (size_t row = 0; row < table.rows(); ++row)
    if (IsGrowing(table, row) && (!most || table.Real(row, "slope_bytes_s") > table.Real(*most, "slope_bytes_s")))
      most = row;
  return most;
}

std::string Bytes(double bytes) { return FormatBytes(std::llround(bytes)); }

// "4.4 MB a step, 310 MB a minute".
std::string Rate(const MemoryTrendRows& table, size_t row) {
  const double a_second = table.Real(row, "slope_bytes_s");
  std::string text = StrCat(Bytes(a_second * kSecondsPerMinute), " a minute");
  if (!table.IsNull(row, "bytes_per_step")) text = StrCat(Bytes(table.Real(row, "bytes_per_step")), " a step, ", text);
  return text;
}

std::vector<Evidence> EvidenceOf(const MemoryTrendRows& table, size_t row) {
  const double a_second = table.Real(row, "slope_bytes_s");
  std::vector<Evidence> all{
      {.text = StrCat("medians of the quarters of the run: ", Bytes(table.Real(row, "first_bytes")), ", ",
                      Bytes(table.Real(row, "second_bytes")), ", ", Bytes(table.Real(row, "third_bytes")), " and ",
                      Bytes(table.Real(row, "last_bytes"))),
       .value = a_second,
       .unit = "bytes/s",
       .table = "memory_trend"}};
  if (table.IsNull(row, "free_bytes")) return all;
  const double free = table.Real(row, "free_bytes"), seconds = free / a_second;
  all.push_back({.text = StrCat("at the end ", Bytes(free), " were free: full after ",
                                FormatDuration(std::llround(std::fmin(seconds, 1e9) * kNsPerSecond)), " more"),
                 .value = seconds,
                 .unit = "s",
                 .table = "memory_trend"});
  return all;
}

// Names the lines that allocate what stays, where allocations were recorded.
std::vector<Evidence> KeptPlaces(const KeptMemoryRows& kept, bool of_device) {
  std::vector<Evidence> all;
  for (size_t row = 0; row < kept.rows() && all.size() < kMaxPlaces; ++row)
    if (kept.IsNull(row, "device") != of_device)
      all.push_back({.text = StrCat("of every recorded step ", Bytes(kept.Real(row, "bytes_per_step")), " stay that ",
                                    TextOr(kept, row, "operator", "code outside of operators"), " allocates"),
                     .value = kept.Real(row, "bytes_per_step"),
                     .unit = "bytes",
                     .table = "kept_memory",
                     .source = std::string(kept.Text(row, "source_line"))});
  return all;
}

std::vector<Recommendation> Recommend(bool knows_places) {
  std::vector<Recommendation> all{
      {"keep numbers instead of tensors: a tensor that is kept keeps the graph and the activations of its step", "",
       "losses.append(loss.item())  # or loss.detach(); not losses.append(loss), total += loss", "minutes"}};
  if (!knows_places)
    all.push_back({"record allocations: the finding then names the lines that allocate what stays", "",
                   "gapless profile --memory -- python train.py", "minutes"});
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const auto table = tables.Get<MemoryTrendRows>();
  const std::optional<size_t> row = MostGrown(table);
  if (!row) return std::vector<Bottleneck>{};
  const bool of_device = !table.IsNull(*row, "device");
  const std::string whose = of_device ? StrCat("of GPU ", table.Int(*row, "device")) : "of the host";
  Bottleneck found;
  const bool soon = table.Real(*row, "free_bytes") < kSoonSeconds * table.Real(*row, "slope_bytes_s");
  found.severity = soon ? 0.75 : 0.5;
  found.title = StrCat("memory ", whose, " grows all through the run: ", Rate(table, *row));
  found.description = StrCat(
      "What ", of_device ? "tensors hold on the GPU" : "the run's processes hold", " grows by ",
      Bytes(GrownBytes(table, *row)), " from the second quarter of the run to the last, ", Rate(table, *row),
      ". Something of every step is kept, and the run ends when memory is full.",
      of_device ? "" : " A data set that is mapped into memory, or cached there, looks alike until it is through.");
  found.evidence = KeptPlaces(tables.Get<KeptMemoryRows>(), of_device);
  found.recommendations = Recommend(!found.evidence.empty());
  for (Evidence& evidence : EvidenceOf(table, *row)) found.evidence.push_back(std::move(evidence));
  return std::vector{std::move(found)};
}

}  // namespace

RULE(memory_growth) = {
    .id = "memory_growth",
    .type = BottleneckType::kMemoryAllocation,
    .title = "Memory grows all through the run",
    .why =
        "Memory that the run's processes hold, as telemetry samples it, and what tensors hold on each device, as the "
        "agent reports it, from the first step to the last. Reported where the median of the last quarter is 100 MB "
        "and 10 % above that of the second or more, both quarters between add a part of it, and nearly each sample "
        "is above those before (Kendall's tau of 0.6 or more). Where allocations were recorded, the lines are named "
        "that allocate what is still in use two steps later. Claims no time.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::memory_growth_rule
