// SPDX-License-Identifier: Apache-2.0
#include "ingest/readers/gpu_samples/report_text.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"

namespace gapless::internal::gpu_samples {
namespace {

constexpr std::string_view kQueryHead = "==NVSMI LOG==", kRocmMark = "\t\t: ";

std::string_view TrimmedText(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// "GPU[3]\t\t: GPU use (%): 12" gives 3.
std::optional<int32_t> RocmDevice(std::string_view line) {
  if (!line.starts_with("GPU[") || line.find(kRocmMark) == line.npos) return std::nullopt;
  int32_t number = -1;
  const auto [end, error] = std::from_chars(line.data() + 4, line.data() + line.size(), number);
  if (error != std::errc() || *end != ']' || number > 4096) return std::nullopt;
  return number;
}

bool IsTableHead(std::string_view line) { return line.starts_with("| NVIDIA-SMI "); }

// The number that ends before `mark`: of "242W / 350W" before "W".
std::string_view WordBefore(std::string_view text, size_t mark) {
  const size_t before = text.find_last_of(" |", mark);
  return text.substr(before == text.npos ? 0 : before + 1, mark - (before == text.npos ? 0 : before + 1));
}

}  // namespace

bool HasReport(std::string_view head) {
  if (head.find(kQueryHead) != head.npos) return true;
  for (const std::string_view line : Split(head, '\n'))
    if (IsTableHead(line) || RocmDevice(line)) return true;
  return false;
}

int64_t ReportLines::Moment(int32_t device) { return time_ != kAbsent ? time_ : sink_.NextMoment(device); }

bool ReportLines::TakeLine(std::string_view line) {
  if (const auto time = ParseCtime(line)) return time_ = *time, sink_.SawTime(*time), true;
  if (line.find(kQueryHead) != line.npos) {
    EndProcesses();
    return in_query_ = true, in_table_ = false, device_ = -1, gpus_ = 0, sections_.clear(), true;
  }
  if (IsTableHead(line)) {
    EndProcesses();
    return in_table_ = true, in_processes_ = in_query_ = false, name_.clear(), true;
  }
  if (in_query_) return TakeQuery(line);
  if (in_table_) return TakeTable(line);
  return TakeRocm(line);
}

void ReportLines::EndProcesses() {
  if (in_query_ && device_ >= 0 && processes_ >= 0)
    sink_.Add("gpu.processes", "processes", device_, moment_, static_cast<double>(processes_));
  processes_ = -1;
}

// Lines are "    Name   : value", below sections that are indented less.
bool ReportLines::TakeQuery(std::string_view line) {
  const std::string_view text = TrimmedText(line);
  if (text.empty()) return true;
  const size_t indent = line.find_first_not_of(" \t"), colon = text.find(" : ");
  if (indent == 0 && text.starts_with("GPU ")) {
    EndProcesses();
    device_ = gpus_++, moment_ = Moment(device_), sections_.clear(), sink_.BeginRow();
    return true;
  }
  if (indent == 0 && colon == text.npos) return EndProcesses(), in_query_ = false, false;
  while (!sections_.empty() && sections_.back().first >= indent) sections_.pop_back();
  if (colon == text.npos) {
    sections_.emplace_back(indent, std::string(text));
    if (text == "Processes") processes_ = 0;
    return true;
  }
  const std::string_view name = TrimmedText(text.substr(0, colon)), value = TrimmedText(text.substr(colon + 3));
  if (device_ < 0) {
    if (name == "Timestamp")
      if (const auto time = ParseCtime(value)) time_ = *time, sink_.SawTime(*time);
    return true;
  }
  // Slices of a GPU have a memory of their own.
  for (const auto& [depth, section] : sections_)
    if (section.starts_with("MIG Device")) return true;
  if (name == "Processes") processes_ = value == "None" ? 0 : -1;
  if (name == "Process ID") ++processes_;
  const Column column = ReportColumn(sections_.empty() ? std::string_view() : sections_.back().second, name);
  if (column.kind != Column::Kind::kIgnored) sink_.AddCell(column, value, device_, moment_);
  return true;
}

// "|   0  NVIDIA L40S   Off | …" and below it "| N/A   64C    P0   242W /  350W |  0MiB / 46068MiB |  100%  Default |".
bool ReportLines::TakeTable(std::string_view line) {
  if (line.empty() || (line.front() != '|' && line.front() != '+'))
    return in_table_ = TrimmedText(line).empty(), in_table_;
  // Slices of a GPU and processes have tables of their own below.
  if (line.find("Processes:") != line.npos || line.find("MIG devices:") != line.npos) return in_processes_ = true;
  if (in_processes_) return true;
  const std::vector<std::string_view> cells = Split(line, '|');
  if (cells.size() < 4) return true;
  const size_t memory = cells[2].find("MiB /");
  if (memory == cells[2].npos) {
    int32_t number = -1;
    const std::string_view first = TrimmedText(cells[1]);
    const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), number);
    if (error != std::errc() || number < 0 || number > 4096) return true;
    device_ = number, name_ = TrimmedText(first.substr(static_cast<size_t>(end - first.data())));
    // Behind the name comes "On" or "Off", and on Windows the model of the driver.
    if (const size_t gap = name_.find("  "); gap != std::string::npos) name_.resize(gap);
    for (const std::string_view word : {" Off", " On"})
      if (name_.ends_with(word)) name_.resize(name_.size() - word.size());
    return true;
  }
  if (device_ < 0) return true;
  const int64_t at = Moment(device_);
  sink_.BeginRow();
  const auto add = [&](std::string_view column, std::string_view cell) {
    sink_.AddCell(QueryColumn(column), TrimmedText(cell), device_, at);
  };
  add("name", name_);
  for (size_t mark = cells[1].find("C "); mark != std::string_view::npos; mark = cells[1].find("C ", mark + 1))
    add("temperature.gpu", WordBefore(cells[1], mark));
  if (const size_t slash = cells[1].find("W /"); slash != std::string_view::npos) {
    add("power.draw", WordBefore(cells[1], slash));
    if (const size_t limit = cells[1].find('W', slash + 1); limit != std::string_view::npos)
      add("power.limit", WordBefore(cells[1], limit));
  }
  add("memory.used", WordBefore(cells[2], memory));
  if (const size_t total = cells[2].find("MiB", memory + 3); total != std::string_view::npos)
    add("memory.total", WordBefore(cells[2], total));
  if (const size_t share = cells[3].find('%'); share != std::string_view::npos)
    add("utilization.gpu", WordBefore(cells[3], share));
  return true;
}

// "GPU[0]\t\t: GPU use (%): 12"; a name that comes again begins the next moment.
bool ReportLines::TakeRocm(std::string_view line) {
  const auto device = RocmDevice(line);
  if (!device) return false;
  const std::string_view text = TrimmedText(line.substr(line.find(kRocmMark) + kRocmMark.size()));
  const size_t colon = text.rfind(": ");
  if (colon == text.npos) return true;
  std::string_view name = text.substr(0, colon);
  std::string_view value = TrimmedText(text.substr(colon + 2));
  if (const size_t level = text.find(": ("); level != text.npos) {  // "sclk clock level: 1: (1700Mhz)"
    value = text.substr(level + 2);
    name = text.starts_with("sclk") ? "sclk clock speed:" : text.starts_with("mclk") ? "mclk clock speed:" : name;
  }
  const Column column = QueryColumn(name.ends_with(':') ? name.substr(0, name.size() - 1) : name);
  if (column.kind == Column::Kind::kIgnored) return sink_.CountUnread(name), true;
  sink_.SetVendor(Vendor::kAmd);
  std::set<std::string>& names = names_[*device];
  if (names.empty() || !names.insert(std::string(name)).second) {
    names = {std::string(name)};
    moments_[*device] = Moment(*device);
    sink_.BeginRow();
  }
  sink_.AddCell(column, value, *device, moments_[*device]);
  return true;
}

void ReadReportXml(std::string_view text, SampleSink& sink) {
  std::vector<std::string> path;
  int64_t time = kAbsent, moment = 0;
  int32_t device = -1, gpus = 0;
  int64_t processes = 0;
  for (size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
    const size_t end = text.find('>', at);
    if (end == text.npos) return;
    std::string_view tag = text.substr(at + 1, end - at - 1);
    if (tag.empty() || tag.front() == '?' || tag.front() == '!' || tag.back() == '/') continue;
    const std::string_view value = TrimmedText(text.substr(end + 1, text.find('<', end + 1) - end - 1));
    if (tag.front() == '/') {
      if (tag == "/gpu" && device >= 0)
        sink.Add("gpu.processes", "processes", device, moment, static_cast<double>(processes)), device = -1;
      if (!path.empty()) path.pop_back();
      continue;
    }
    tag = tag.substr(0, tag.find_first_of(" \t\n"));
    const std::string above = path.empty() ? std::string() : path.back();
    path.emplace_back(tag);
    if (path.size() > 100) return;
    if (tag == "nvidia_smi_log") gpus = 0, time = kAbsent;
    if (tag == "timestamp" && above == "nvidia_smi_log")
      if (const auto parsed = ParseCtime(value)) time = *parsed, sink.SawTime(time);
    if (tag == "gpu" && above == "nvidia_smi_log") {
      device = gpus++, processes = 0, sink.BeginRow();
      moment = time != kAbsent ? time : sink.NextMoment(device);
    }
    if (device < 0) continue;
    if (std::ranges::find(path, "mig_devices") != path.end()) continue;  // slices of a GPU have a memory of their own
    processes += tag == "process_info";
    const Column column = ReportColumn(above, tag);
    if (column.kind != Column::Kind::kIgnored && !value.empty()) sink.AddCell(column, value, device, moment);
  }
}

}  // namespace gapless::internal::gpu_samples
