// SPDX-License-Identifier: Apache-2.0
// Writes every column of a light trace by its name, enums by the names of their values, and reads them back.
#include "trace/summary_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "trace/enums.h"
#include "trace/shared_texts.h"
#include "trace/summary_places.h"
#include "trace/trace_check.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kSummaryMagic("\x01GAPSUM\n", 8);
constexpr size_t kSummaryHead = 8 + 4 + 4 + 8 + 8 + 8;  // magic, version, 0, lengths, checksum of what follows
constexpr size_t kLengthAt = 16, kEventsAt = 24, kChecksumAt = 32;
constexpr size_t kMaxContentBytes = size_t{64} * 1024 * 1024;  // unpacked; summaries of our own have less than 4 MiB
constexpr int kCompressionLevel = 12;  // a few ms for a summary, a tenth smaller than by default

struct InfoText {
  std::string_view name;
  std::string TraceInfo::*member;
};
constexpr InfoText kInfoTexts[] = {{"path", &TraceInfo::path},
                                   {"format", &TraceInfo::format},
                                   {"host", &TraceInfo::host},
                                   {"framework", &TraceInfo::framework}};
struct InfoInt {
  std::string_view name;
  int64_t TraceInfo::*member;
};
constexpr InfoInt kInfoInts[] = {{"rank", &TraceInfo::rank},
                                 {"world_size", &TraceInfo::world_size},
                                 {"pid", &TraceInfo::pid},
                                 {"origin_ns", &TraceInfo::origin_ns},
                                 {"start_unix_ns", &TraceInfo::start_unix_ns},
                                 {"dur_ns", &TraceInfo::dur_ns},
                                 {"process_start_unix_ns", &TraceInfo::process_start_unix_ns},
                                 {"process_end_unix_ns", &TraceInfo::process_end_unix_ns},
                                 {"event_count", &TraceInfo::event_count}};
struct RowCount {
  std::string_view name;
  int64_t IdBase::*member;
};
constexpr RowCount kRowCounts[] = {{"slices", &IdBase::slice},
                                   {"gpu_ops", &IdBase::gpu_op},
                                   {"gpu_annotations", &IdBase::gpu_annotation},
                                   {"syncs", &IdBase::sync},
                                   {"collectives", &IdBase::collective},
                                   {"steps", &IdBase::step},
                                   {"memory_events", &IdBase::memory_event},
                                   {"stacks", &IdBase::stack}};
struct WindowColumns {
  std::string_view start, end;
  SummarySpan TraceSummary::*member;
};
constexpr WindowColumns kWindowColumns[] = {{"window_start_ns", "window_end_ns", &TraceSummary::window},
                                            {"host_start_ns", "host_end_ns", &TraceSummary::host}};

std::string SectionOf(std::string_view table) { return StrCat("trace.", table); }

template <class T>
void WriteColumn(std::string_view name, const Column<T>& column, const Trace& trace, SectionWriter& to) {
  if constexpr (std::is_enum_v<T>) {
    std::vector<std::string_view> texts;
    for (const T value : column)
      if constexpr (std::is_same_v<T, StringId>)
        texts.push_back(trace.Text(value));
      else
        texts.push_back(ToString(value));
    to.Texts(name, texts);
  } else if constexpr (std::is_floating_point_v<T>) {
    to.Reals(name, std::vector<double>(column.begin(), column.end()));
  } else {
    std::vector<int64_t> values;
    for (const T value : column) {
      if constexpr (std::is_class_v<T>)
        values.push_back(value.valid() ? int64_t{value.value} : kAbsent);
      else
        values.push_back(value == Absent<T>() && std::is_signed_v<T> ? kAbsent : static_cast<int64_t>(value));
    }
    to.Ints(name, values);
  }
}

// Time that a slice shares with what it calls is short for most, so it takes fewer bytes than the rest; the same
// function leads back.
Column<int64_t> Complement(const Column<int64_t>& of, const Column<int64_t>& whole) {
  std::vector<int64_t> values(of.size());
  for (size_t row = 0; row < values.size(); ++row) values[row] = of[row] == kAbsent ? kAbsent : whole[row] - of[row];
  return values;
}

// Columns that no replay reads: arrows, addresses, and numbers whose links are made. An empty name stands for all
// columns.
struct Unread {
  std::string_view table, column;
};
constexpr Unread kUnread[] = {{FlowTable::kAbout.name, ""},
                              {SliceTable::kAbout.name, "external_id"},
                              {SliceTable::kAbout.name, "sequence"},
                              {GpuOpTable::kAbout.name, "external_id"},
                              {MemoryEventTable::kAbout.name, "address"}};
bool IsUnread(std::string_view table, std::string_view column) {
  return std::ranges::any_of(kUnread,
                             [&](const Unread& unread) { return unread.table == table && unread.column == column; });
}

enum class Kept : uint8_t { kAll, kForReplay };

void WriteTables(const Trace& trace, Kept kept, SectionWriter& to) {
  Trace::VisitTables(trace, [&](std::string_view name, const auto& table) {
    if (table.size() == 0 || (kept == Kept::kForReplay && IsUnread(name, ""))) return;
    to.Begin(SectionOf(name), table.size());
    std::decay_t<decltype(table)>::Visit(table, [&](std::string_view column_name, const auto& column) {
      if (kept == Kept::kForReplay && IsUnread(name, column_name)) return;
      if constexpr (std::is_same_v<std::decay_t<decltype(table)>, SliceTable>)
        if (kept == Kept::kForReplay && column_name == "self_ns")
          return WriteColumn(column_name, Complement(table.self_ns, table.dur_ns), trace, to);
      WriteColumn(column_name, column, trace, to);
    });
  });
}

void WriteFacts(const TraceInfo& info, const TraceSummary& summary, SectionWriter& to) {
  to.Begin("recording", 1);
  for (const auto& [name, member] : kInfoTexts) to.Text(name, info.*member);
  for (const auto& [name, member] : kInfoInts) to.Int(name, info.*member);
  for (const auto& [name, member] : kRowCounts) to.Int(name, summary.rows.*member);
  for (const auto& [start, end, member] : kWindowColumns)
    to.Int(start, (summary.*member).first), to.Int(end, (summary.*member).second);
  to.Int("idle_rows", summary.idle_rows), to.Int("one_off_idle_ns", summary.one_off_idle_ns);
}

// Columns of spans of something that a number names.
class SpanWriter {
 public:
  void Add(int64_t of, SummarySpan span) {
    of_.push_back(of), start_.push_back(span.first), length_.push_back(span.second - span.first);
  }
  void Write(std::string_view section, std::string_view key, SectionWriter& to) const {
    to.Begin(section, of_.size());
    to.Ints(key, of_), to.Ints("start_ns", start_), to.Ints("dur_ns", length_);
  }

 private:
  std::vector<int64_t> of_{}, start_{}, length_{};
};

void WriteSpans(const TraceSummary& summary, SectionWriter& to) {
  SpanWriter steps, exposed;
  std::vector<int64_t> devices;
  for (const SummaryStep& step : summary.steps) steps.Add(step.step.value, step.span);
  for (const SummaryDevice& device : summary.devices) {
    devices.push_back(device.device);
    for (const SummarySpan& span : device.exposed_communication) exposed.Add(device.device, span);
  }
  steps.Write("window_steps", "step", to), exposed.Write("exposed", "device", to);
  to.Begin("working_devices", devices.size());
  to.Ints("device", devices);
}

void PutFixed(uint64_t value, size_t bytes, std::string& out) {
  for (size_t byte = 0; byte < bytes; ++byte) out += static_cast<char>(value >> (8 * byte));
}
uint64_t FixedAt(std::string_view bytes, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t byte = 0; byte < count; ++byte)
    value |= uint64_t{static_cast<unsigned char>(bytes[at + byte])} << (8 * byte);
  return value;
}

}  // namespace

bool IsSummary(std::string_view head) { return head.starts_with(kSummaryMagic); }

namespace {

std::string Packed(const std::string& content) {
  std::string packed(ZSTD_compressBound(content.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), content.data(), content.size(), kCompressionLevel));
  return packed;
}

}  // namespace

std::string WriteSummary(const Trace& trace, const TraceSummary& summary, SectionWriter tables,
                         std::string_view events) {
  WriteFacts(trace.info, summary, tables);
  WriteSpans(summary, tables);
  WriteTables(trace, Kept::kAll, tables);
  return SealSummary(std::move(tables).Finish(), events);
}

std::string SealSummary(const std::string& sections, std::string_view events) {
  const std::string packed = Packed(sections);
  const std::string body = StrCat(packed, events);
  std::string out(kSummaryMagic);
  PutFixed(kSummaryVersion, 4, out), PutFixed(0, 4, out);
  PutFixed(packed.size(), 8, out), PutFixed(events.size(), 8, out);
  PutFixed(XXH3_64bits(body.data(), body.size()), 8, out);
  return out + body;
}

std::string WriteEvents(const Trace& trace, const IdBase& first) {
  SectionWriter to;
  to.Begin("first", 1);
  for (const auto& [name, member] : kRowCounts) to.Int(name, first.*member);
  WriteTables(trace, Kept::kForReplay, to);
  return Packed(std::move(to).Finish());
}

namespace {

Unexpected Damaged(std::string_view why) {
  return Fail(ErrorCode::kInput, StrCat("the summary ", why), {}, "write it again: gapless summarize RECORDING -o DIR");
}

}  // namespace

Result<uint64_t> HeadOf(std::string_view head, uint64_t bytes) {
  if (head.size() < kSummaryHead || !IsSummary(head)) return Damaged("is cut off");
  if (const uint64_t version = FixedAt(head, 8, 4); version > kSummaryVersion)
    return Fail(ErrorCode::kInput,
                StrCat("the summary has version ", version, ", and this program reads up to version ", kSummaryVersion),
                {}, "update gapless, or write the summary again with this version");
  const uint64_t packed = FixedAt(head, kLengthAt, 8), events = FixedAt(head, kEventsAt, 8);
  const uint64_t body = bytes < kSummaryHead ? 0 : bytes - kSummaryHead;
  if (packed > body || events != body - packed)
    return Damaged(packed > body || events > body - packed ? "is cut off" : "has bytes behind its end");
  return FixedAt(head, kChecksumAt, 8);
}

namespace {

Result<std::shared_ptr<const std::string>> Unpacked(std::string_view packed) {
  const auto size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMaxContentBytes)
    return Damaged("is damaged: its size cannot be");
  auto content = std::make_shared<std::string>(size, '\0');
  const size_t got = ZSTD_decompress(content->data(), size, packed.data(), packed.size());
  if (ZSTD_isError(got) != 0 || got != size) return Damaged("is damaged: it cannot be unpacked");
  return std::shared_ptr<const std::string>(std::move(content));
}

// A name that is not known here, of a newer program, is what the value begins as.
template <class T>
T EnumOf(std::string_view name) {
  constexpr size_t kMostValues = 64;
  for (size_t value = 0; value < kMostValues; ++value)
    if (ToString(static_cast<T>(value)) == name) return static_cast<T>(value);
  return T{};
}

// Gives texts of sections new ids, in the order in which they are asked for.
class TextIds {
 public:
  TextIds(const std::vector<std::string_view>& texts, std::shared_ptr<SharedTexts> shared)
      : texts_(texts), ids_(texts.size()), shared_(std::move(shared)) {}

  StringId Of(uint32_t text) {
    uint32_t& id = ids_[text];
    if (id == 0 && text != 0) id = static_cast<uint32_t>(views_.size()), views_.push_back(shared_->Keep(texts_[text]));
    return static_cast<StringId>(id);
  }
  StringPool Pool() && { return StringPool::FromViews(std::move(views_), std::move(shared_)); }

 private:
  const std::vector<std::string_view>& texts_;
  std::vector<uint32_t> ids_;  // by text; 0: not asked for
  std::vector<std::string_view> views_{{}};
  std::shared_ptr<SharedTexts> shared_;
};

template <class T>
void ReadColumn(const SectionReader::Section& section, std::string_view name, TextIds& texts, Column<T>& column) {
  std::vector<T> values;
  values.reserve(section.rows());
  if constexpr (std::is_same_v<T, StringId>) {
    for (const uint32_t id : section.TextIds(name)) values.push_back(texts.Of(id));
  } else if constexpr (std::is_enum_v<T>) {
    for (const std::string_view text : section.Texts(name)) values.push_back(EnumOf<T>(text));
  } else if constexpr (std::is_floating_point_v<T>) {
    for (const double value : section.Reals(name)) values.push_back(static_cast<T>(value));
  } else {
    for (const int64_t value : section.Ints(name)) {
      if constexpr (std::is_class_v<T>)
        values.push_back(value == kAbsent ? T{} : T(static_cast<uint64_t>(value)));
      else
        values.push_back(value == kAbsent ? Absent<T>() : static_cast<T>(value));
    }
  }
  if (!values.empty() && std::ranges::all_of(values, [&](const T& value) { return SameBits(value, values[0]); }))
    column = Column<T>::Same(values.size(), values[0]);
  else
    column = Column<T>(std::move(values));
}

void ReadFacts(const SectionReader& sections, TraceInfo& info, TraceSummary& summary) {
  const SectionReader::Section* facts = sections.Find("recording");
  if (facts == nullptr) return;
  for (const auto& [name, member] : kInfoTexts) info.*member = facts->Text(name);
  for (const auto& [name, member] : kInfoInts)
    if (const int64_t value = facts->Int(name); value != kAbsent || info.*member == kAbsent) info.*member = value;
  for (const auto& [name, member] : kRowCounts) summary.rows.*member = std::max<int64_t>(0, facts->Int(name));
  for (const auto& [start, end, member] : kWindowColumns)
    if (facts->Int(start) != kAbsent && facts->Int(end) != kAbsent)
      summary.*member = {facts->Int(start), facts->Int(end)};
  summary.idle_rows = std::max<int64_t>(0, facts->Int("idle_rows"));
  summary.one_off_idle_ns = std::max<int64_t>(0, facts->Int("one_off_idle_ns"));
}

// Calls f(key, span) for each row of a section of spans.
template <class F>
void EachSpan(const SectionReader& sections, std::string_view name, std::string_view key, F&& f) {
  const SectionReader::Section* section = sections.Find(name);
  if (section == nullptr) return;
  const std::vector<int64_t> keys = section->Ints(key), starts = section->Ints("start_ns"),
                             lengths = section->Ints("dur_ns");
  for (size_t row = 0; row < keys.size(); ++row) f(keys[row], SummarySpan{starts[row], starts[row] + lengths[row]});
}

void ReadSpans(const SectionReader& sections, TraceSummary& summary) {
  EachSpan(sections, "window_steps", "step", [&](int64_t step, SummarySpan span) {
    summary.steps.push_back({StepId(static_cast<uint64_t>(step)), span});
  });
  if (const auto* devices = sections.Find("working_devices"))
    for (const int64_t device : devices->Ints("device")) summary.devices.push_back({static_cast<int32_t>(device), {}});
  EachSpan(sections, "exposed", "device", [&](int64_t device, SummarySpan span) {
    const auto its = std::ranges::find(summary.devices, static_cast<int32_t>(device), &SummaryDevice::device);
    if (its != summary.devices.end()) its->exposed_communication.push_back(span);
  });
}

bool Fits(SummarySpan span) {
  constexpr int64_t kMost = int64_t{1} << 54;  // as in trace_check
  return span.first >= -kMost && span.first <= span.second && span.second <= kMost;
}

bool FitsTogether(const Trace& trace, const TraceSummary& summary) {
  if (!HoldsTogether(trace) || !Fits(summary.window) || !Fits(summary.host)) return false;
  int64_t end = summary.window.first;
  for (const SummaryStep& step : summary.steps) {
    if (!Fits(step.span) || step.span.first < end || step.step.value >= trace.steps.size()) return false;
    end = step.span.second;
  }
  for (const SummaryDevice& device : summary.devices) {
    int64_t after = std::numeric_limits<int64_t>::min();
    for (const SummarySpan& span : device.exposed_communication) {
      if (!Fits(span) || span.first < after) return false;
      after = span.second;
    }
  }
  return std::ranges::is_sorted(summary.devices, {}, &SummaryDevice::device);
}

}  // namespace

namespace {

void ReadTables(const SectionReader& sections, Trace& trace) {
  TextIds texts(sections.texts(), SharedTexts::Current());
  Trace::VisitTables(trace, [&](std::string_view name, auto& table) {
    const SectionReader::Section* section = sections.Find(SectionOf(name));
    if (section == nullptr) return;
    std::decay_t<decltype(table)>::Visit(
        table, [&](std::string_view column_name, auto& column) { ReadColumn(*section, column_name, texts, column); });
  });
  trace.strings = std::move(texts).Pool();
}

TraceSummary::Packed PackedAt(std::string_view bytes, uint64_t at, uint64_t size, const SummaryPlace* place) {
  if (place != nullptr) return {.file = place->file, .offset = place->offset + at, .size = size};
  return {.bytes = std::string(bytes.substr(at, size)), .size = size};
}

Result<SectionReader> SectionsOf(const TraceSummary::Packed& packed) {
  if (!packed.bytes.empty()) {
    GAPLESS_ASSIGN(auto content, Unpacked(packed.bytes));
    return SectionReader::Open(content);
  }
  GAPLESS_ASSIGN(const std::string bytes, BytesAt(packed.file, packed.offset, packed.size));
  GAPLESS_ASSIGN(auto content, Unpacked(bytes));
  return SectionReader::Open(content);
}

}  // namespace

Result<Trace> ReadSummary(std::string_view bytes, const SummaryPlace* place) {
  GAPLESS_ASSIGN(const uint64_t checksum, HeadOf(bytes, bytes.size()));
  const std::string_view body = bytes.substr(kSummaryHead);
  if (XXH3_64bits(body.data(), body.size()) != checksum) return Damaged("is damaged: its checksum does not agree");
  const uint64_t length = FixedAt(bytes, kLengthAt, 8);
  GAPLESS_ASSIGN(auto content, Unpacked(body.substr(0, length)));
  auto opened = SectionReader::Open(content);
  if (!opened) return Damaged(opened.error().message);
  const SectionReader sections = *std::move(opened);
  Trace trace;
  auto summary = std::make_shared<TraceSummary>();
  ReadFacts(sections, trace.info, *summary);
  ReadSpans(sections, *summary);
  ReadTables(sections, trace);
  if (!FitsTogether(trace, *summary)) return Damaged("is damaged: its parts do not fit");
  summary->tables = PackedAt(bytes, kSummaryHead, length, place);
  summary->events = PackedAt(bytes, kSummaryHead + length, body.size() - length, place);
  trace.summary = std::move(summary);
  return trace;
}

Result<SectionReader> ReadSummaryTables(const Trace& light) { return SectionsOf(light.summary->tables); }

Result<CutTrace> ReadEvents(const Trace& light) {
  if (!light.summary || light.summary->events.empty()) return Damaged("holds no events");
  GAPLESS_ASSIGN(const auto sections, SectionsOf(light.summary->events));
  auto trace = std::make_shared<Trace>();
  trace->info = light.info;
  ReadTables(sections, *trace);
  trace->slices.self_ns = Complement(trace->slices.self_ns, trace->slices.dur_ns);
  if (!HoldsTogether(*trace)) return Damaged("is damaged: its events do not fit");
  CutTrace cut{.trace = std::move(trace)};
  if (const SectionReader::Section* first = sections.Find("first"))
    for (const auto& [name, member] : kRowCounts) cut.rows.*member = std::max<int64_t>(0, first->Int(name));
  return cut;
}

}  // namespace gapless::internal
