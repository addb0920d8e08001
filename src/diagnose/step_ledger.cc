// SPDX-License-Identifier: Apache-2.0
// Reads the tables of a run into a ledger of the mean step, and cuts it to what the history keeps.
#include "diagnose/step_ledger.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyses/columns.h"
#include "analyses/rows/gpu_state.h"
#include "analyses/rows/host_steps.h"
#include "analyses/rows/operators.h"
#include "analyses/rows/step_parts.h"
#include "analyses/rows/steps.h"
#include "base/described_json.h"
#include "base/strings.h"
#include "base/version.h"
#include "diagnose/ledger_view.h"

namespace gapless::internal {
namespace {

constexpr int64_t kLedgerVersion = 1;
// Characters of a name that a stored ledger has; kernels of templates have names of thousands.
constexpr size_t kStoredName = 60;

// Takes wall time and steps from the ledger, or from host_steps where no device worked.
void AddWall(Tables& tables, StepLedger& ledger) {
  const LedgerView& view = ReadLedger(tables);
  ledger.on_device = view.total.wall_ns > 0;
  if (ledger.on_device) {
    ledger.wall_ns = view.total.wall_ns, ledger.steps = view.step_rows;
    ledger.devices = static_cast<int64_t>(view.devices.size());
    for (const DeviceBreakdown& device : view.devices)
      if (ledger.device_name.empty()) ledger.device_name = device.device_name;
    return;
  }
  const auto host = tables.Get<HostStepsRows>();
  ledger.devices = static_cast<int64_t>(host.rows());
  for (size_t row = 0; row < host.rows(); ++row)
    ledger.wall_ns += host.Int(row, "wall_ns"), ledger.steps += host.Int(row, "steps");
}

void AddParts(Tables& tables, StepLedger& ledger) {
  std::map<std::tuple<std::string, std::string, std::string, bool>, size_t> places;
  std::map<size_t, int64_t> most;  // time of the line that a part has
  const auto rows = tables.Get<StepPartsRows>();
  for (size_t row = 0; row < rows.rows(); ++row) {
    if (rows.IsNull(row, "device") == ledger.on_device) continue;
    StepPart part{.part = std::string(rows.Text(row, "part")),
                  .name = std::string(rows.Text(row, "name")),
                  .op = std::string(rows.Text(row, "operator")),
                  .after_wait = rows.Int(row, "after_wait") == 1};
    const auto [place, is_new] =
        places.try_emplace({part.part, part.name, part.op, part.after_wait}, ledger.parts.size());
    if (is_new) ledger.parts.push_back(std::move(part));
    StepPart& sum = ledger.parts[place->second];
    const int64_t ns = rows.Int(row, "time_ns");
    sum.calls += rows.Int(row, "calls"), sum.ns += ns;
    if (rows.IsNull(row, "source_line") || (!sum.line.empty() && ns <= most[place->second])) continue;
    sum.line = rows.Text(row, "source_line"), most[place->second] = ns;
  }
}

// The mean over all samples, throttled or not, and over the devices.
std::optional<double> ClockOf(const GpuStateRows& gpus) {
  double sum = 0;
  int64_t count = 0;
  for (size_t row = 0; row < gpus.rows(); ++row) {
    const bool free = !gpus.IsNull(row, "free_clock_hz"), slow = !gpus.IsNull(row, "throttled_clock_hz");
    if (!free && !slow) continue;
    const double share = !slow                                          ? 0
                         : !free || gpus.IsNull(row, "throttled_share") ? 1
                                                                        : gpus.Real(row, "throttled_share");
    sum += (free ? (1 - share) * gpus.Real(row, "free_clock_hz") : 0) +
           (slow ? share * gpus.Real(row, "throttled_clock_hz") : 0);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

std::optional<int64_t> MedianOf(const StepsRows& steps) {
  std::vector<int64_t> times;
  for (size_t row = 0; row < steps.rows(); ++row)
    if (steps.Int(row, "complete") != 0 && !steps.IsNull(row, "dur_ns")) times.push_back(steps.Int(row, "dur_ns"));
  if (times.empty()) return std::nullopt;
  return Percentile(times, 0.5);
}

// 32 bits of FNV-1a, as hexadecimal digits: names that begin alike stay apart.
std::string DigitsOf(std::string_view name) {
  uint32_t hash = 0x811c9dc5;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  std::string digits;
  for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[hash >> shift & 15];
  return digits;
}

std::string Shortened(const std::string& name) {
  if (name.size() <= kStoredName) return name;
  size_t end = kStoredName;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;  // within a character
  return StrCat(name.substr(0, end), "~", DigitsOf(name));
}

std::string AsText(const StepLedger& ledger) {
  std::string out;
  JsonWriter json(out);
  WriteJson(json, ledger);
  return out;
}

// Returns the ledger with its `kept` largest parts, and the sums of the others.
StepLedger WithLargest(const StepLedger& ledger, size_t kept) {
  StepLedger cut = ledger;
  if (kept >= ledger.parts.size()) return cut;
  cut.parts.resize(kept);
  std::map<std::string, StepPart> sums;
  for (size_t i = kept; i < ledger.parts.size(); ++i) {
    const StepPart& part = ledger.parts[i];
    StepPart& sum = sums[part.part];
    sum.part = part.part, sum.calls += part.calls, sum.ns += part.ns;
    cut.summed_below_ns = std::max(cut.summed_below_ns, part.ns + 1);
  }
  for (auto& [name, sum] : sums) {
    sum.name = kOtherParts;
    cut.parts.push_back(std::move(sum));
  }
  return cut;
}

}  // namespace

Result<StepLedger> StepLedgerOf(Tables& tables) {
  StepLedger ledger{.version = kLedgerVersion};
  AddWall(tables, ledger);
  if (ledger.wall_ns <= 0)
    return Fail(ErrorCode::kInput, "the recording holds neither work of a device nor operators of a host to divide");
  AddParts(tables, ledger);
  ledger.median_step_ns = MedianOf(tables.Get<StepsRows>());
  ledger.clock_hz = ClockOf(tables.Get<GpuStateRows>());
  const auto operators = tables.Get<OperatorsRows>();
  std::set<std::string_view> names;
  for (size_t row = 0; row < operators.rows(); ++row) names.insert(operators.Text(row, "name"));
  ledger.operators.assign(names.begin(), names.end());
  return ledger;
}

StepLedger WithShortNames(StepLedger ledger) {
  for (StepPart& part : ledger.parts) part.name = Shortened(part.name), part.op = Shortened(part.op);
  for (std::string& name : ledger.operators) name = Shortened(name);
  std::ranges::sort(ledger.operators);
  return ledger;
}

// The number of parts that find room is searched by halves: each try writes the text.
std::string StoredLedger(StepLedger ledger) {
  ledger = WithShortNames(std::move(ledger));
  ledger.operators.clear();
  std::ranges::stable_sort(ledger.parts, [](const StepPart& a, const StepPart& b) { return a.ns > b.ns; });
  std::string best = AsText(WithLargest(ledger, 0));
  size_t fits = 0, too_many = ledger.parts.size() + 1;
  while (fits + 1 < too_many) {
    const size_t tried = fits + (too_many - fits) / 2;
    std::string text = AsText(WithLargest(ledger, tried));
    if (text.size() <= kMostLedgerBytes)
      fits = tried, best = std::move(text);
    else
      too_many = tried;
  }
  return best;
}

Result<StepLedger> ReadStoredLedger(std::string_view text) {
  GAPLESS_ASSIGN(auto ledger, ReadJson<StepLedger>(text));
  if (ledger.version > kLedgerVersion)
    return FromAnotherVersion("the ledger of this record", ledger.version, kLedgerVersion, "", ErrorCode::kEnvironment);
  if (ledger.Units() <= 0) return Fail(ErrorCode::kInput, "the ledger of this record is damaged: it has no steps");
  return ledger;
}

}  // namespace gapless::internal
