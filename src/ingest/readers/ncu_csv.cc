// SPDX-License-Identifier: Apache-2.0
// Nsight Compute: what `ncu --csv` prints with --page raw (a column per metric, units in the second row) or --page
// details (a row per metric or rule), also with the `==PROF==` lines of a live run around it.
//
// Every number becomes a row of kernel_metric in its base unit, whatever unit it was printed in, under the metric's own
// name. The details page has names for people instead: those that the verdicts need are given back their own, the
// others stand as "section: name". A rule is the metric "rule:<name>" whose text is what it says and whose value is the
// speedup it estimates.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/csv.h"
#include "base/strings.h"
#include "ingest/reader.h"
#include "ingest/readers/ncu_csv/values.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kExtensions[] = {".ncu.csv"};
constexpr std::string_view kHeader = "\"ID\",\"Process ID\",";
constexpr size_t kMostBytes = size_t{1} << 30;

// Where the table begins: at the start of a line. npos: nowhere.
size_t FindTable(std::string_view text) {
  for (size_t at = 0; (at = text.find(kHeader, at)) != std::string_view::npos; ++at)
    if (at == 0 || text[at - 1] == '\n') return at;
  return std::string_view::npos;
}

Sniff SniffHead(std::string_view head) { return FindTable(head) == std::string_view::npos ? Sniff::kNo : Sniff::kYes; }

// Columns that say which launch a row is about, and what they are called here.
struct AboutColumn {
  std::string_view printed, metric;
};
constexpr AboutColumn kAbout[] = {{"Block Size", "block"},     {"Grid Size", "grid"}, {"Context", "context"},
                                  {"Stream", "stream"},        {"Device", "device"},  {"CC", "compute_capability"},
                                  {"Process ID", "process_id"}};
constexpr std::string_view kOtherAbout[] = {"ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time"};

// Names on the details page, of this and of older versions.
struct Renamed {
  std::string_view section, printed, metric;
};
constexpr Renamed kRenamed[] = {
    {"", "Duration", "gpu__time_duration.sum"},
    {"", "Compute (SM) Throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"", "SM [%]", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"GPU Speed Of Light Throughput", "Memory Throughput",
     "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    {"", "DRAM Throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    {"", "Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    {"", "Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"},
    {"", "Registers Per Thread", "launch__registers_per_thread"},
    {"", "Static Shared Memory Per Block", "launch__shared_mem_per_block_static"},
    {"", "Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic"},
    {"", "Avg. Active Threads Per Warp", "smsp__thread_inst_executed_per_inst_executed.ratio"},
    {"", "L2 Hit Rate", "lts__t_sector_hit_rate.pct"},
};

std::string MetricOf(std::string_view section, std::string_view printed) {
  for (const Renamed& one : kRenamed)
    if (one.printed == printed && (one.section.empty() || one.section == section)) return std::string(one.metric);
  return StrCat(section, ": ", printed);
}

class Table {
 public:
  Table(std::string_view text, TraceBuilder& builder) : csv_(text), builder_(builder) {}

  Result<void> Read(const std::string& path) {
    std::vector<std::string> row;
    csv_.Next(header_);
    for (size_t i = 0; i < header_.size(); ++i) column_.emplace(header_[i], i);
    if (!column_.contains("Kernel Name"))
      return Fail(ErrorCode::kInput, "the table has no column \"Kernel Name\"", path, "ncu --csv --page raw");
    while (csv_.Next(row))
      if (!row.empty() && !row[0].starts_with("==")) rows_.push_back(std::move(row));
    const bool details = column_.contains("Metric Name");
    FindStyle(details);
    for (const auto& one : rows_) details ? AddDetail(one) : AddRaw(one);
    Finish();
    return {};
  }

 private:
  std::string_view Get(const std::vector<std::string>& row, std::string_view column) const {
    const auto at = column_.find(column);
    return at == column_.end() || at->second >= row.size() ? std::string_view() : row[at->second];
  }

  static bool IsAbout(std::string_view column) {
    return std::ranges::find(kAbout, column, &AboutColumn::printed) != std::end(kAbout) ||
           std::ranges::find(kOtherAbout, column) != std::end(kOtherAbout);
  }

  void FindStyle(bool details) {
    ncu::StyleFinder finder;
    for (const auto& row : rows_) {
      if (details) {
        finder.See(Get(row, "Metric Value"));
        continue;
      }
      for (size_t i = 0; i < row.size() && i < header_.size(); ++i)
        if (!IsAbout(header_[i])) finder.See(row[i]);
    }
    style_ = finder.style();
  }

  // A launch is said about once; false: the row names no launch.
  bool TakeLaunch(const std::vector<std::string>& row) {
    const double id = ncu::ParseValue(Get(row, "ID"), {});
    if (!(id >= 0) || id > 1e15) return false;
    const auto index = static_cast<int64_t>(id);
    kernel_ = Get(row, "Kernel Name");
    if (index == launch_) return true;
    launch_ = index;
    for (const AboutColumn& about : kAbout) {
      const std::string_view text = Get(row, about.printed);
      if (!text.empty()) Add(about.metric, kNan, text, "");
    }
    if (const std::string_view process = Get(row, "Process Name"); !process.empty())
      builder_.AddEnvironment("ncu.process", process);
    return true;
  }

  void Add(std::string_view metric, double value, std::string_view text, std::string_view unit) {
    builder_.AddKernelMetric({.kernel_name = kernel_,
                              .launch_index = launch_,
                              .metric = metric,
                              .value = value,
                              .text = text,
                              .unit = unit});
    ++metrics_;
  }

  void AddValue(std::string_view metric, std::string_view printed, std::string_view unit) {
    if (printed.empty() || printed == "nan" || printed == "n/a" || printed == "inf" || printed == "-inf") {
      absent_ += !printed.empty();
      return;
    }
    const double value = ncu::ParseValue(printed, style_);
    if (std::isnan(value)) return Add(metric, kNan, printed, unit);
    const auto& base = BaseOf(unit);
    Add(metric, value * base.factor, "", base.unit);
  }

  void AddRaw(const std::vector<std::string>& row) {
    if (Get(row, "ID").empty()) {  // the row of units
      units_ = row;
      return;
    }
    if (!TakeLaunch(row)) return void(++contradictory_);
    contradictory_ += row.size() != header_.size();
    for (size_t i = 0; i < row.size() && i < header_.size(); ++i)
      if (!IsAbout(header_[i]))
        AddValue(header_[i], row[i], i < units_.size() ? std::string_view(units_[i]) : std::string_view());
  }

  void AddDetail(const std::vector<std::string>& row) {
    if (!TakeLaunch(row)) return void(++contradictory_);
    const std::string_view metric = Get(row, "Metric Name"), rule = Get(row, "Rule Name");
    if (!metric.empty())
      AddValue(MetricOf(Get(row, "Section Name"), metric), Get(row, "Metric Value"), Get(row, "Metric Unit"));
    if (rule.empty()) return;
    const double speedup = ncu::ParseValue(Get(row, "Estimated Speedup"), style_);
    Add(StrCat("rule:", rule), speedup, Get(row, "Rule Description"), std::isnan(speedup) ? "" : "%");
  }

  const ncu::BaseUnit& BaseOf(std::string_view unit) {
    auto known = bases_.find(unit);
    if (known == bases_.end()) known = bases_.emplace(std::string(unit), ncu::ToBaseUnit(unit)).first;
    return known->second;
  }

  void Finish() {
    builder_.info().event_count = metrics_;
    builder_.Count("absent_values", Severity::kInfo, absent_, kAbsent, "metrics without a value were left out");
    builder_.Count("contradictory_rows", Severity::kLoss, contradictory_, kAbsent,
                   "rows that name no launch, or have another number of fields than the header");
    if (csv_.cut())
      builder_.Count("truncated_input", Severity::kError, 1, kAbsent,
                     "the file ends in the middle; the rows before are all there");
  }

  CsvReader csv_;
  TraceBuilder& builder_;
  std::vector<std::string> header_, units_;
  std::map<std::string, size_t, std::less<>> column_;
  std::vector<std::vector<std::string>> rows_;
  std::map<std::string, ncu::BaseUnit, std::less<>> bases_;
  ncu::NumberStyle style_;
  std::string kernel_;
  int64_t launch_ = kAbsent, metrics_ = 0, absent_ = 0, contradictory_ = 0;
};

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  auto stream = source.Open();
  if (!stream) return Unexpected{stream.error()};
  std::string text;
  constexpr size_t kPiece = size_t{1} << 20;
  const Error* damage = nullptr;
  Error kept;
  for (bool more = true; more && text.size() < kMostBytes;) {
    if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
    const size_t before = text.size();
    text.resize(before + kPiece);
    auto got = (*stream)->Read(text.data() + before, kPiece);
    if (!got) kept = got.error(), damage = &kept;
    more = got && *got > 0;
    text.resize(before + (got ? *got : 0));
  }
  const size_t at = FindTable(text);
  if (at == std::string::npos)
    return Fail(ErrorCode::kInput, "no table of ncu in it", source.path(),
                "ncu --import REPORT.ncu-rep --csv --page raw");
  if (damage != nullptr)
    builder.Count("damaged_input", Severity::kError, 1, static_cast<int64_t>(text.size()),
                  StrCat("reading stopped: ", damage->message));
  if (text.size() >= kMostBytes)
    builder.Count("overlong_input", Severity::kError, 1, static_cast<int64_t>(text.size()),
                  "reading stopped after a gigabyte");
  return Table(std::string_view(text).substr(at), builder).Read(source.path());
}

}  // namespace

READER(ncu_csv) = {.name = "ncu_csv",
                   .help = "Metrics of kernels by Nsight Compute: ncu --csv --page raw or details",
                   .extensions = kExtensions,
                   .sniff = SniffHead,
                   .read = Read,
                   .complete = nullptr};

}  // namespace gapless::internal
