// SPDX-License-Identifier: Apache-2.0
// A plane is a process of that JSON, a line one of its threads. All planes of the host are one process, as their lines
// are its threads. Times of a line count in ps from its start.
#include "ingest/readers/xplane/events.h"

#include <charconv>

#include "base/strings.h"

namespace gapless::internal::xplane {
namespace {

constexpr int64_t kHost = 701, kFirstDevice = 1;  // numbers that the JSON has
constexpr int64_t kMaxPs = INT64_MAX / 4;

bool IsOfHost(const Plane& plane) { return plane.name.starts_with("/host:"); }

bool IsRead(const Plane& plane) {
  if (plane.lines.empty() || plane.name == "/host:metadata") return false;
  return IsOfHost(plane) || plane.name.starts_with("/device:");
}

int64_t ProcessOf(const Plane& plane, size_t place) {
  return IsOfHost(plane) ? kHost : kFirstDevice + static_cast<int64_t>(place);
}

// A text as JSON has it, without control characters.
std::string Token(std::string_view text) {
  std::string token = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) continue;
    if (c == '"' || c == '\\') token += '\\';
    token += c;
  }
  return token + '"';
}

// Nanoseconds as decimal microseconds.
std::string Micros(int64_t ns) {
  const std::string below = StrCat(ns % 1000);
  return StrCat(ns / 1000, ".", std::string(3 - below.size(), '0'), below);
}

std::string_view TextOf(const Plane& plane, const Stat& stat) {
  if (stat.kind == Stat::Kind::kText) return stat.text;
  const auto at = plane.stat_names.find(stat.whole);
  return stat.kind == Stat::Kind::kReference && at != plane.stat_names.end() ? at->second : std::string_view();
}

// The number behind a key in a list of words: "kind_src:pageable size:3145728 dest:0", "regs:32 grid:4,1,1".
std::string_view WordBehind(std::string_view text, std::string_view key) {
  size_t at = text.find(key);
  while (at != text.npos && at > 0 && text[at - 1] != ' ' && text[at - 1] != '\n') at = text.find(key, at + 1);
  if (at == text.npos) return {};
  text.remove_prefix(at + key.size());
  return text.substr(0, text.find_first_of(" \n"));
}

int64_t NumberBehind(std::string_view text, std::string_view key) { return kineto::TokenInt(WordBehind(text, key)); }

void TakeSides(std::string_view text, std::array<int32_t, 3>& sides) {
  const auto parts = Split(text, ',');
  if (parts.size() != 3) return;
  for (size_t i = 0; i < 3; ++i) sides[i] = kineto::Narrow(kineto::TokenInt(parts[i]));
}

double RealOf(const Stat& stat) {
  return stat.kind == Stat::Kind::kReal    ? stat.real
         : stat.kind == Stat::Kind::kWhole ? static_cast<double>(stat.whole)
                                           : kNan;
}

// "size:…" of a copy is in its own words.
void TakeCopy(std::string_view details, kineto::EventFields& fields) {
  fields.bytes = NumberBehind(details, "size:");
  if (fields.bytes == kAbsent) fields.bytes = NumberBehind(details, "num_bytes:");
}

}  // namespace

void Events::NameLanes() {
  for (size_t i = 0; i < space_.planes.size(); ++i) {
    const Plane& plane = space_.planes[i];
    if (!IsRead(plane)) continue;
    const int64_t pid = ProcessOf(plane, i);
    const std::string_view name = IsOfHost(plane) ? std::string_view("/host:CPU") : plane.name;
    builder_.NameProcess(pid, name);
    lanes_.NameProcess(pid, name);
    for (const Line& line : plane.lines) {
      builder_.NameThread(pid, line.id, line.name);
      lanes_.NameThread(pid, line.id, line.name);
    }
  }
  lanes_.Settle();
}

void Events::TakeStat(const Plane& plane, const Stat& stat, kineto::EventFields& fields) {
  const auto at = plane.stat_names.find(stat.name);
  if (at == plane.stat_names.end()) return;
  const std::string_view name = at->second, text = TextOf(plane, stat);
  const int64_t whole = stat.kind == Stat::Kind::kWhole ? stat.whole : text.empty() ? kAbsent : kineto::TokenInt(text);
  if (name == "step_num") fields.step_number = whole;
  if (name == "correlation_id") fields.correlation = whole;
  if (name == "context_id") fields.context = whole;
  if (name == "cuda_graph_id") fields.graph_id = whole;
  if (name == "cuda_graph_node_id") fields.graph_node_id = whole;
  if (name == "occupancy_pct" || name == "theoretical_occupancy_pct") fields.occupancy_pct = RealOf(stat);
  if (name == "memcpy_details" || name == "memset_details") TakeCopy(text, fields);
  if (name == "source" && text.find(':') != text.npos && !text.starts_with("external/")) fields.source_line = text;
  if (name != "kernel_details") return;
  fields.registers = NumberBehind(text, "regs:");
  const int64_t fixed = NumberBehind(text, "static_shared:"), given = NumberBehind(text, "dynamic_shared:");
  if (fixed >= 0 && given >= 0 && fixed < INT32_MAX && given < INT32_MAX) fields.shared_bytes = fixed + given;
  TakeSides(WordBehind(text, "grid:"), fields.grid);
  TakeSides(WordBehind(text, "block:"), fields.block);
}

void Events::AddEvent(const Plane& plane, const Line& line, const Event& event, int64_t pid, kineto::EventRows& rows) {
  const auto kind = plane.kinds.find(event.kind);
  if (kind == plane.kinds.end() || event.duration_ps < 0 || event.duration_ps > kMaxPs || event.offset_ps > kMaxPs ||
      event.offset_ps < -kMaxPs || line.start_ns < 0 || line.start_ns > INT64_MAX / 2)
    return void(++damaged_);
  const int64_t start = line.start_ns + event.offset_ps / 1000;
  if (start < 0) return void(++damaged_);
  kineto::EventFields fields;
  const std::string name = Token(kind->second.shown.empty() ? kind->second.name : kind->second.shown);
  const std::string process = StrCat(pid), thread = StrCat(line.id), ts = Micros(start);
  const std::string dur = Micros(event.duration_ps / 1000);
  fields.ph = "\"X\"", fields.name = name, fields.pid = process, fields.tid = thread;
  fields.ts = ts, fields.dur = dur;
  std::string source;
  for (const Stat& stat : kind->second.stats) TakeStat(plane, stat, fields);
  for (const Stat& stat : event.stats) TakeStat(plane, stat, fields);
  if (!fields.source_line.empty()) source = Token(fields.source_line), fields.source_line = source;
  rows.Add(fields, static_cast<uint64_t>(events_));
  ++events_;
}

bool Events::AddLine(const Plane& plane, const Line& line, int64_t pid, const ReadContext& context,
                     kineto::EventRows& rows) {
  Event event;
  int64_t count = 0;
  for (const std::string_view message : line.events) {
    if (++count % 65'536 == 0) {
      if (context.cancelled()) return false;
      if (context.progress) context.progress();
    }
    ReadEvent(message, event);
    damaged_ += event.damaged ? 1 : 0;
    sums_ += event.sums_up ? 1 : 0;
    if (!event.damaged && !event.sums_up) AddEvent(plane, line, event, pid, rows);
  }
  return !context.cancelled();
}

// All that a plane says of its device.
void Events::AddDevice(const Plane& plane) {
  const size_t colon = plane.name.rfind(':');
  const int64_t number = colon == plane.name.npos ? kAbsent : kineto::TokenInt(plane.name.substr(colon + 1));
  if (number < 0 || number > 1 << 16) return;
  DeviceRow row{.device = static_cast<int32_t>(number)};
  int64_t count = kAbsent;
  for (const Stat& stat : plane.stats) {
    const auto at = plane.stat_names.find(stat.name);
    if (at == plane.stat_names.end()) continue;
    if (at->second == "device_type_string" || at->second == "gpu_device_name") row.name = TextOf(plane, stat);
    if (at->second == "device_vendor")
      row.vendor = ContainsIgnoreCase(TextOf(plane, stat), "nvidia") ? Vendor::kNvidia
                   : ContainsIgnoreCase(TextOf(plane, stat), "amd")  ? Vendor::kAmd
                                                                     : Vendor::kOther;
    if (at->second == "core_count" && stat.kind == Stat::Kind::kWhole) count = stat.whole;
    if (at->second == "memory_size" && stat.kind == Stat::Kind::kWhole && stat.whole > 0) row.memory_bytes = stat.whole;
    if (at->second == "compute_cap_major" && stat.kind == Stat::Kind::kWhole)
      row.compute_major = kineto::Narrow(stat.whole);
    if (at->second == "compute_cap_minor" && stat.kind == Stat::Kind::kWhole)
      row.compute_minor = kineto::Narrow(stat.whole);
  }
  if (count > 0 && plane.name.find("GPU") != plane.name.npos) row.sm_count = kineto::Narrow(count);
  if (!row.name.empty() || row.memory_bytes != kAbsent) builder_.AddDevice(row);
}

bool Events::Run(const ReadContext& context) {
  NameLanes();
  kineto::EventRows rows(builder_.NewShard(), &lanes_);
  for (size_t i = 0; i < space_.planes.size(); ++i) {
    const Plane& plane = space_.planes[i];
    if (!IsRead(plane)) continue;
    if (plane.name.starts_with("/device:")) AddDevice(plane);
    for (const Line& line : plane.lines)
      if (!AddLine(plane, line, ProcessOf(plane, i), context, rows)) return false;
  }
  rows.Finish(builder_);
  builder_.Count("damaged_events", Severity::kLoss, damaged_, kAbsent, "events cannot be read and were left out");
  builder_.Count("summed_events", Severity::kInfo, sums_, kAbsent,
                 "events that stand for many, without their times, are not part of the tables");
  return true;
}

}  // namespace gapless::internal::xplane
