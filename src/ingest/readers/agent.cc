// SPDX-License-Identifier: Apache-2.0
// Reads the reports of the agent inside a training process (python/gapless/agent/README.md): agent-<pid>.ring as the
// process maps it, and agent-<pid>.events, what the launcher saved of it.
//
// When the launcher was killed, the ring holds what it had not saved, so a ring is read together with the saved file
// beside it; records that are in both count once. The steps become the table `step`, what happened in them slices with
// the names that the profiler would give them, values over time counters.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "base/version.h"
#include "ingest/reader.h"
#include "ingest/readers/agent/rows.h"
#include "wire/agent_ring.h"

namespace gapless::internal::agent_reader {
namespace {

using wire::RingHeader;
using wire::RingRecord;

constexpr std::string_view kExtensions[] = {".ring", ".events"};
constexpr std::string_view kRing = ".ring", kEvents = ".events";
// Records that are read with one call.
constexpr size_t kRecordsAtOnce = 4096;

Sniff SniffHead(std::string_view head) { return head.starts_with(wire::kRingMagic) ? Sniff::kYes : Sniff::kNo; }

// Fills `out` as far as the stream goes and returns the number of bytes. An error of the stream counts as its end:
// what was read before is kept.
size_t ReadUpTo(ByteStream& stream, char* out, size_t size) {
  size_t done = 0;
  while (done < size) {
    const auto got = stream.Read(out + done, size - done);
    if (!got || *got == 0) break;
    done += *got;
  }
  return done;
}

// Returns the header at the start of a ring or a saved file. Other versions, or other sizes of header or record,
// are an error: the layouts are shared memory without any description of their own.
Result<RingHeader> ReadHeader(ByteStream& stream, const std::string& path) {
  std::string bytes(wire::kRingHeaderBytes, '\0');
  RingHeader header{};
  const size_t got = ReadUpTo(stream, bytes.data(), bytes.size());
  std::memcpy(&header, bytes.data(), sizeof header);
  if (got < bytes.size())
    return Fail(ErrorCode::kInput, "the file ends in its header", path,
                "the process ended before it had said anything");
  if (header.version != wire::kRingVersion)
    return FromAnotherVersion("this file of the agent", header.version, wire::kRingVersion, path);
  if (header.header_bytes != wire::kRingHeaderBytes || header.record_bytes != wire::kRingRecordBytes)
    return Fail(ErrorCode::kInput, "the file's header is damaged", path, "copy it again");
  return header;
}

// Calls `f` with the records of a stream in the order in which they lie in it; records that were never written, of
// number 0, are left out. A partial record at the end is dropped.
template <class F>
void ForEachRecord(ByteStream& stream, F&& f) {
  std::vector<RingRecord> records(kRecordsAtOnce);
  while (true) {
    const size_t bytes =
        ReadUpTo(stream, reinterpret_cast<char*>(records.data()), records.size() * wire::kRingRecordBytes);
    for (size_t i = 0; i < bytes / wire::kRingRecordBytes; ++i)
      if (records[i].number != 0) f(records[i]);
    if (bytes < records.size() * wire::kRingRecordBytes) return;
  }
}

// An InOrder takes records in rising order of their numbers, drops repeated ones, and counts those that are
// missing in between: the agent overwrote them before the launcher had saved them.
class InOrder {
 public:
  explicit InOrder(agent::Rows& rows) : rows_(rows) {}
  void Take(const RingRecord& record) {
    if (record.number <= last_) return;
    lost_ += record.number - last_ - 1;
    last_ = record.number;
    ++taken_;
    rows_.Add(record);
  }
  uint64_t last() const { return last_; }
  uint64_t taken() const { return taken_; }
  uint64_t lost() const { return lost_; }

 private:
  agent::Rows& rows_;
  uint64_t last_ = 0, taken_ = 0, lost_ = 0;
};

// Takes the records that the launcher saved from the ring at `ring_path`, if there are any. Rings within archives
// ("x.tar!/…") have no file beside them. A symbolic link is not followed, as in all of a run directory.
void TakeSaved(const std::string& ring_path, InOrder& in_order) {
  if (!ring_path.ends_with(kRing) || ring_path.find("!/") != std::string::npos) return;
  std::error_code error;
  const std::string saved = ring_path.substr(0, ring_path.size() - kRing.size()) + std::string(kEvents);
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(saved, error))) return;
  auto source = OpenFile(saved);
  if (!source) return;
  auto stream = (*source)->Open();
  if (!stream || !ReadHeader(**stream, ring_path)) return;
  ForEachRecord(**stream, [&](const RingRecord& record) { in_order.Take(record); });
}

// Takes the records of the ring itself, sorted by number, since the ring overwrites its oldest places. A number
// above `written` belongs to a record that was not finished when the process died.
void TakeRing(ByteStream& stream, const RingHeader& header, InOrder& in_order) {
  std::vector<RingRecord> records;
  const uint32_t most = std::min(header.capacity, wire::kMaxRingRecords);  // what lies behind is no part of the ring
  ForEachRecord(stream, [&](const RingRecord& record) {
    const bool kept = record.number <= header.written && records.size() < most;
    if (kept) records.push_back(record);
  });
  std::sort(records.begin(), records.end(),
            [](const RingRecord& a, const RingRecord& b) { return a.number < b.number; });
  for (const RingRecord& record : records) in_order.Take(record);
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(auto stream, source.Open());
  GAPLESS_ASSIGN(const auto header, ReadHeader(*stream, source.path()));
  agent::Rows rows(header, builder);
  InOrder in_order(rows);
  if (header.capacity == 0) {
    ForEachRecord(*stream, [&](const RingRecord& record) { in_order.Take(record); });
  } else {
    TakeSaved(source.path(), in_order);
    TakeRing(*stream, header, in_order);
  }
  if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
  rows.Finish();
  builder.info().event_count = static_cast<int64_t>(in_order.taken());
  if (in_order.lost() > 0)
    builder.Count("agent_records_lost", Severity::kLoss,
                  static_cast<int64_t>(std::min<uint64_t>(in_order.lost(), INT64_MAX)), kAbsent,
                  "records of the agent were overwritten before they were saved");
  return {};
}

// The agent's times are unix times, so the first one is the start.
void Complete(Trace& trace) { trace.info.start_unix_ns = trace.info.origin_ns; }

}  // namespace

READER(agent) = {.name = "agent",
                 .help = "Steps and events of a training process, reported by gapless's agent",
                 .extensions = kExtensions,
                 .sniff = SniffHead,
                 .read = Read,
                 .complete = Complete,
                 .grows = true};

}  // namespace gapless::internal::agent_reader
