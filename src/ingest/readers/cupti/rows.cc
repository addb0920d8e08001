// SPDX-License-Identifier: Apache-2.0
// Takes the records of each CUPTI block apart, and adds calls, waits and overheads; gpu_rows.cc and other_rows.cc add
// the rest. Damaged or unknown records are counted and skipped.
//
// A record is a type, a length and a sequence of varints. A length of 255 means that the real one follows in four
// bytes. Fields are read in the order in which the collector wrote them, so a field without a column is read and
// dropped. Start times and correlations are differences to the record of the same type before, from 0 in each
// block: a damaged block does not spoil the next one.
//
// Names are numbered; a name's class is found when it is first used, once per distinct name. Memory grows with the
// names, the open ranges and the launches of the driver, which wait for the end of the file.
#include "ingest/readers/cupti/rows.h"

#include <algorithm>

#include "base/strings.h"
#include "ingest/readers/cupti/values.h"
#include "trace/lost_work.h"

namespace gapless::internal::cupti {
namespace {

using wire::FieldReader;
using wire::RecordType;

constexpr int64_t kMaxDurationNs = int64_t{86'400} * 1'000'000'000;  // a day: longer than any recording
// Numbers of texts grow by one; what is far beyond is damage.
constexpr size_t kMaxNamesAhead = 65'536, kMaxNames = size_t{1} << 22;

struct NoteText {
  std::string_view kind;
  Severity severity;
  std::string_view text;
};
constexpr std::array<NoteText, static_cast<size_t>(Note::kCount)> kNoteTexts = {{
    {"unreadable_records", Severity::kError, "records that end in the middle were left out"},
    {"bad_times", Severity::kLoss, "records without a usable time, or that last over a day, were left out"},
    {kOpsWithoutTime, Severity::kLoss, kOpsWithoutTimeText},
    {"unknown_records", Severity::kInfo, "records of kinds that this version does not know were skipped"},
    {"lost_names", Severity::kLoss, "names that were defined in a damaged part of the file are missing"},
    {"open_ranges", Severity::kInfo, "ranges that were not closed were left out"},
    {"instants", Severity::kInfo, "instant markers are not part of the tables"},
    {"overheads_without_thread", Severity::kInfo, "overheads that belong to no thread were left out"},
    {"dropped_records", Severity::kLoss, "records that CUPTI had no buffer for are missing"},
    {"dropped_kinds", Severity::kInfo, "records of kinds that the collector does not know were not kept"},
    {"unwritten_records", Severity::kError, "records could not be written to the file: the disk was full or gone"},
}};

}  // namespace

// Counts a note; the offset of the current record is kept if it is the first. The count saturates: files give it.
void Rows::Tell(Note note, int64_t count) {
  Tally& tally = tallies_[static_cast<size_t>(note)];
  tally.count = count > INT64_MAX - tally.count ? INT64_MAX : tally.count + count;
  if (tally.first_offset == kAbsent) tally.first_offset = static_cast<int64_t>(record_offset_);
}

void Rows::AddBlock(const Block& block) {
  last_start_.fill(0), last_correlation_.fill(0);
  const uint8_t* at = block.payload.data();
  const uint8_t* const end = at + block.payload.size();
  while (at < end) {
    record_offset_ = block.offset + static_cast<uint64_t>(at - block.payload.data());
    size_t head = 2, length = end - at >= 2 ? at[1] : 0;
    if (length == 255 && end - at >= 6) {
      uint32_t longer = 0;
      std::copy_n(at + 2, sizeof longer, reinterpret_cast<uint8_t*>(&longer));
      head = 6, length = longer;
    }
    if (static_cast<size_t>(end - at) < head || length > static_cast<size_t>(end - at) - head)
      return Tell(Note::kBadRecord);
    Add(static_cast<RecordType>(*at), FieldReader(at + head, at + head + length));
    at += head + length;
  }
}

void Rows::Add(RecordType type, FieldReader fields) {
  switch (type) {
    case RecordType::kText: return AddText(fields);
    case RecordType::kInfo: {
      const uint64_t key = fields.Next(), value = fields.Next();
      return builder_.AddEnvironment(TextOf(key), TextOf(value));
    }
    case RecordType::kMessage: return AddMessage(fields);
    case RecordType::kDropped: return AddDropped(fields);
    case RecordType::kFinish: finished_ = true; return;
    case RecordType::kKernel: return AddKernel(fields);
    case RecordType::kMemcpy: return AddCopy(fields);
    case RecordType::kMemset: return AddMemset(fields);
    case RecordType::kApi: return AddCall(fields);
    case RecordType::kSync: return AddSync(fields);
    case RecordType::kOverhead: return AddOverhead(fields);
    case RecordType::kMarker: return AddMarker(fields);
    case RecordType::kGraphTrace: return AddGraph(fields);
    case RecordType::kMemory: return AddMemory(fields);
    case RecordType::kMemoryPool: return AddMemoryPool(fields);
    case RecordType::kDevice: return AddDevice(fields);
    case RecordType::kContext: {
      const uint64_t context = fields.Next();
      device_of_context_[context] = Narrow(fields.Next());
      return;
    }
    case RecordType::kStream: return;  // streams have no table of their own
    case RecordType::kName: return AddName(fields);
    case RecordType::kThread: return AddThread(fields);
  }
  Tell(Note::kUnknownRecord);
}

// Defines the name of a number. Numbers too far beyond the known ones are rejected, so that a damaged number
// cannot make the table of names large.
void Rows::AddText(FieldReader& fields) {
  const uint64_t number = fields.Next();
  if (number == 0 || number > names_.size() + kMaxNamesAhead || number >= kMaxNames) return Tell(Note::kBadRecord);
  size_t size = std::min(fields.left(), wire::kMaxTextBytes);
  const auto* const bytes = reinterpret_cast<const char*>(fields.Bytes(size));
  if (number >= names_.size()) names_.resize(number + 1);
  names_[number] = {.text = shard_.Text(Printable({bytes, size})), .defined = true};
}

// Returns the name of a number, or an empty one whose traits are not kept. Only a number other than 0 without a
// name is counted: 0 means "no name".
Rows::Name& Rows::NameOf(uint64_t number) {
  if (number < names_.size() && names_[number].defined) return names_[number];
  if (number != 0) Tell(Note::kUnnamed);
  return unnamed_ = {};
}

void Rows::AddMessage(FieldReader& fields) {
  const uint64_t severity = fields.Next();
  const std::string_view text = TextOf(fields.Next());
  builder_.Count("collector_message",
                 severity == 0   ? Severity::kInfo
                 : severity == 1 ? Severity::kLoss
                                 : Severity::kError,
                 1, static_cast<int64_t>(record_offset_), text);
}

void Rows::AddDropped(FieldReader& fields) {
  const auto count = static_cast<int64_t>(std::min<uint64_t>(fields.Next(), INT64_MAX));
  const auto cause = static_cast<wire::DropCause>(fields.Next());
  Tell(cause == wire::DropCause::kUnknown  ? Note::kDroppedUnknown
       : cause == wire::DropCause::kFailed ? Note::kNotWritten
                                           : Note::kDropped,
       count);
}

int64_t Rows::ReadTime(RecordType type, FieldReader& fields) {
  uint64_t& last = last_start_[static_cast<size_t>(type)];
  last += static_cast<uint64_t>(fields.NextSigned());
  return clocks_.ToUnix(last);
}

// Reads start and duration. The duration is stored plus one; 0 means that CUPTI knew no start or no end. Start and
// end are converted to unix time each, so the duration is that of the wall clock, and never below 0.
Rows::Span Rows::ReadSpan(RecordType type, FieldReader& fields) {
  Span span{.ts_ns = ReadTime(type, fields)};
  const uint64_t start = last_start_[static_cast<size_t>(type)], duration = fields.Next();
  if (start == 0 || duration == 0) {
    Tell(Note::kUnfinished);
  } else {
    const int64_t end = clocks_.ToUnix(start + (duration - 1));
    if (span.ts_ns != kAbsent && end != kAbsent && end - span.ts_ns <= kMaxDurationNs)
      span.dur_ns = std::max<int64_t>(end - span.ts_ns, 0);
    else
      Tell(Note::kBadTime);
  }
  return span;
}

int64_t Rows::ReadCorrelation(RecordType type, FieldReader& fields) {
  uint64_t& last = last_correlation_[static_cast<size_t>(type)];
  last += static_cast<uint64_t>(fields.NextSigned());
  return OrNone(last);
}

// Adds a call of the runtime or the driver. All fields are read before the first return, since a later record's
// correlation counts from this one's. Launches by the driver are kept until Finish().
void Rows::AddCall(FieldReader& fields) {
  const Span span = ReadSpan(RecordType::kApi, fields);
  const int64_t tid = Wide(fields.Next()), correlation = ReadCorrelation(RecordType::kApi, fields);
  Name& name = NameOf(fields.Next());
  if (!name.api_known) {
    const std::string text(CallName(shard_.strings[name.text]));
    name.api = ClassifyApi(text), name.call = shard_.Text(text), name.api_known = true;
  }
  const bool driver = fields.Next() == static_cast<uint64_t>(wire::ApiDomain::kDriver);
  if (!span.usable()) return;
  if (fields.missing()) return Tell(Note::kBadRecord);
  const SliceRow row{.name = name.call,
                     .category = driver ? SliceCategory::kDriver : SliceCategory::kRuntime,
                     .api = name.api,
                     .pid = pid_,
                     .tid = tid,
                     .ts_ns = span.ts_ns,
                     .dur_ns = span.dur_ns,
                     .correlation = correlation};
  ++events_;
  const bool launches = IsLaunch(row.api) && row.correlation != kAbsent;
  if (launches && driver) return driver_launches_.push_back(row);
  if (launches) runtime_launches_.push_back(row.correlation);
  shard_.Add(row);
}

void Rows::AddSync(FieldReader& fields) {
  const Span span = ReadSpan(RecordType::kSync, fields);
  SyncRow row{.kind = SyncKindOf(fields.Next()), .ts_ns = span.ts_ns, .dur_ns = span.dur_ns};
  const auto device = device_of_context_.find(fields.Next());
  if (device != device_of_context_.end()) row.device = device->second;
  row.stream = WideOrNone(fields.Next());
  row.event = WideOrNone(fields.Next());
  row.correlation = ReadCorrelation(RecordType::kSync, fields);
  if (!span.usable()) return;
  if (fields.missing()) return Tell(Note::kBadRecord);
  ++events_;
  shard_.Add(row);
}

void Rows::AddOverhead(FieldReader& fields) {
  const Span span = ReadSpan(RecordType::kOverhead, fields);
  const SliceRow row{.name = shard_.Text(OverheadName(fields.Next())),
                     .category = SliceCategory::kOverhead,
                     .pid = pid_,
                     .tid = WideOrNone(fields.Next()),
                     .ts_ns = span.ts_ns,
                     .dur_ns = span.dur_ns};
  (void)ReadCorrelation(RecordType::kOverhead, fields);
  if (!span.usable()) return;
  if (row.tid == kAbsent) return Tell(Note::kNoThread);
  ++events_;
  shard_.Add(row);
}

// Runs in O(n log n) of the launches.
void Rows::Finish() {
  std::sort(runtime_launches_.begin(), runtime_launches_.end());
  for (SliceRow& row : driver_launches_) {
    // The runtime's own call into the driver: the runtime's call is the one that launched.
    if (std::binary_search(runtime_launches_.begin(), runtime_launches_.end(), row.correlation))
      row.correlation = kAbsent, row.api = ApiKind::kOther;
    shard_.Add(row);
  }
  if (!open_ranges_.empty()) Tell(Note::kOpenRange, static_cast<int64_t>(open_ranges_.size()));
  for (size_t i = 0; i < tallies_.size(); ++i)
    builder_.Count(kNoteTexts[i].kind, kNoteTexts[i].severity, tallies_[i].count, tallies_[i].first_offset,
                   kNoteTexts[i].text);
}

}  // namespace gapless::internal::cupti
