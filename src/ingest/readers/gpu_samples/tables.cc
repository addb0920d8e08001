// SPDX-License-Identifier: Apache-2.0
#include "ingest/readers/gpu_samples/tables.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/strings.h"

namespace gapless::internal::gpu_samples {
namespace {

using Kind = Column::Kind;

// "3", "card3", "cuda:3", "GPU 3".
std::optional<int32_t> NumberOfDevice(std::string_view cell) {
  const size_t last = cell.find_last_of("0123456789");
  if (last == cell.npos) return std::nullopt;
  const size_t before = cell.find_last_not_of("0123456789", last);
  const std::string_view name = before == cell.npos ? std::string_view() : cell.substr(0, before + 1);
  if (cell.find_first_not_of(" \t\"", last + 1) != cell.npos) return std::nullopt;
  for (const char sign : name)
    if (sign == '.' || sign == '-') return std::nullopt;
  int32_t number = -1;
  const std::string_view digits = cell.substr(name.size(), last + 1 - name.size());
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || number > 4096) return std::nullopt;
  return number;
}

}  // namespace

void TableLines::Leave() {
  EndProcesses();
  form_ = Form::kNone;
}

void TableLines::TakeLine(std::string_view line) {
  if (const Form form = FormOf(line); form != Form::kNone) return TakeHead(form, line);
  if (form_ == Form::kNone || line.find_first_not_of(" \t") == line.npos) return;
  if (form_ == Form::kQuery) return TakeCells(CellsOf(line));
  const std::vector<std::string> words = WordsOf(line);
  if (line.find('#') < 4) return TakeUnits(words);
  if (form_ == Form::kPmon) return TakeProcess(words);
  TakeWords(words);
}

void TableLines::TakeHead(Form form, std::string_view line) {
  if (form_ == Form::kPmon && form != Form::kPmon) EndProcesses();
  form_ = form, columns_.clear();
  names_ = form == Form::kQuery ? CellsOf(line) : WordsOf(line);
  for (const std::string& name : names_) {
    columns_.push_back(form == Form::kQuery  ? QueryColumn(name)
                       : form == Form::kDcgm ? DcgmColumn(name)
                                             : DmonColumn(name, ""));
    const bool is_device = form == Form::kDcgm && columns_.size() == 1;
    if (columns_.back().kind == Kind::kIgnored && form != Form::kPmon && !is_device) sink_.CountUnread(name);
  }
  // Seconds of a window count with an energy only, and a column of a certain GPU needs no column that names it.
  const bool has_energy = std::ranges::any_of(columns_, [](const Column& one) { return one.kind == Kind::kEnergy; });
  for (Column& column : columns_)
    if (column.kind == Kind::kWindow && !has_energy) column.kind = Kind::kIgnored;
}

// The line below the head of dmon: "# Idx     W     C".
void TableLines::TakeUnits(const std::vector<std::string>& words) {
  if (form_ != Form::kDmon || words.size() != names_.size()) return;
  for (size_t i = 0; i < names_.size(); ++i) columns_[i] = DmonColumn(names_[i], words[i]);
}

// "GPU 0  0.912 …" of dcgmi; slices of a GPU ("GPU-I 1", "GPU-CI") are left out: their sum is not the GPU's value.
void TableLines::TakeWords(std::vector<std::string> words) {
  if (form_ == Form::kDmon) {
    const auto device = std::ranges::find(columns_, Kind::kDevice, &Column::kind) - columns_.begin();
    const bool is_row = words.size() == columns_.size() && NumberOfDevice(words[static_cast<size_t>(device)]);
    return is_row ? TakeCells(words) : Leave();  // other text follows the table
  }
  if (!words.empty() && words[0].starts_with("GPU-")) return;
  if (words.size() == columns_.size() + 1 && words[0] == "GPU") words.erase(words.begin());
  if (words.size() == 1) return;  // "ID", the second line of the head
  if (words.size() != columns_.size()) return sink_.CountContradiction();
  columns_[0].kind = Kind::kDevice;
  TakeCells(words);
}

// A row of pmon is a process on a GPU, "-" where there is none. The rows of a moment have no pair of them twice.
void TableLines::TakeProcess(const std::vector<std::string>& words) {
  const auto of = [&](std::string_view name) -> std::string {
    const auto at = std::ranges::find(names_, name);
    const auto index = static_cast<size_t>(at - names_.begin());
    return index < words.size() ? words[index] : std::string("-");
  };
  const auto device = NumberOfDevice(of("gpu"));
  if (words.size() < names_.size() || !device) return Leave();
  const std::string pid = of("pid");
  if (processes_.contains({*device, pid})) EndProcesses();
  processes_.emplace(*device, pid);
  process_counts_[*device] += pid != "-";
}

void TableLines::EndProcesses() {
  for (const auto& [device, count] : process_counts_) {
    sink_.BeginRow();
    sink_.Add("gpu.processes", "processes", device, sink_.NextMoment(device), static_cast<double>(count));
  }
  processes_.clear(), process_counts_.clear();
}

// The first column of each kind counts: a number before an id before an address on the bus. Rows without any of them
// are about GPU 0.
std::optional<int32_t> TableLines::DeviceOfRow(const std::vector<std::string>& cells) {
  for (const Kind kind : {Kind::kDevice, Kind::kUuid, Kind::kBusId}) {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (columns_[i].kind != kind) continue;
      if (kind != Kind::kDevice) return sink_.DeviceOf(cells[i], -1);
      if (const auto number = NumberOfDevice(cells[i])) return number;
      // A column "gpu" may hold the product's name instead of a number.
      if (cells[i].find_first_of("0123456789") == std::string::npos || PlainName(names_[i]) == "index")
        return std::nullopt;
      break;
    }
  }
  return 0;
}

std::optional<int64_t> TableLines::TimeOfRow(const std::vector<std::string>& cells, bool& has_time) {
  std::string date;
  std::optional<int64_t> ts_ns;
  for (size_t i = 0; i < cells.size(); ++i) {
    const Kind kind = columns_[i].kind;
    if (kind == Kind::kDate) date = cells[i];
    if (kind != Kind::kTimestamp && kind != Kind::kTime) continue;
    has_time = true;
    if (!ts_ns) ts_ns = sink_.TimeIn(kind == Kind::kTime && !date.empty() ? StrCat(date, " ", cells[i]) : cells[i]);
  }
  return ts_ns;
}

// Takes one row of values. The device and the time must be known first, wherever their columns stand. A row whose time
// cannot be read is left out.
void TableLines::TakeCells(const std::vector<std::string>& cells) {
  if (cells.size() != columns_.size()) return sink_.CountContradiction();
  const std::optional<int32_t> device = DeviceOfRow(cells);
  bool has_time = false;
  std::optional<int64_t> ts_ns = TimeOfRow(cells, has_time);
  if (!device || (has_time && !ts_ns)) return sink_.CountContradiction();
  if (ts_ns) sink_.SawTime(*ts_ns);
  AddRow(cells, *device, ts_ns ? *ts_ns : sink_.NextMoment(*device));
}

// The energy of a window becomes the mean power, at its begin and at its end.
void TableLines::AddRow(const std::vector<std::string>& cells, int32_t device, int64_t ts_ns) {
  sink_.BeginRow();
  double window_s = 0;
  for (size_t i = 0; i < cells.size(); ++i)
    if (columns_[i].kind == Kind::kWindow) window_s = ValueOf(cells[i], columns_[i]).value_or(0);
  std::set<int32_t> seen;
  for (size_t i = 0; i < cells.size(); ++i) {
    const Column& column = columns_[i];
    const int32_t of = column.device >= 0 ? column.device : device;
    if (column.device >= 0 && seen.insert(of).second) sink_.BeginRow();
    if (column.kind != Kind::kEnergy) {
      if (column.kind != Kind::kIgnored) sink_.AddCell(column, cells[i], of, ts_ns);
      continue;
    }
    const auto joules = ValueOf(cells[i], column);
    if (!joules || !(window_s > 0 && window_s < 1e8)) continue;
    for (const int64_t at : {ts_ns, ts_ns + static_cast<int64_t>(window_s * 1e9)})
      sink_.Add(column.series, column.unit, of, at, *joules / window_s);
  }
}

}  // namespace gapless::internal::gpu_samples
