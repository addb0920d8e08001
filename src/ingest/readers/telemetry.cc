// SPDX-License-Identifier: Apache-2.0
// Reads telemetry.gts: values over time of one host, as the launcher samples them (wire/telemetry_stream.h).
//
// Every sample becomes a row of `counter`, every text a row of `environment`. The trace has no rank and no
// process: it is about the host. Records are checked one by one; reading stops at the first whose length cannot
// be.
//
// A series is defined by a record before its first sample, and may be defined again. Kinds of records that this
// version does not know are skipped by their length.
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>

#include "base/strings.h"
#include "base/version.h"
#include "ingest/dead_counters.h"
#include "ingest/reader.h"
#include "wire/telemetry_stream.h"

namespace gapless::internal::telemetry_reader {
namespace {

using telemetry::FileHeader;
using telemetry::RecordHeader;
using telemetry::RecordKind;

constexpr std::string_view kExtensions[] = {".gts"};

Sniff SniffHead(std::string_view head) {
  return head.starts_with(std::string_view(telemetry::kMagic, sizeof telemetry::kMagic)) ? Sniff::kYes : Sniff::kNo;
}

// Returns the value at `offset`, which need not be aligned; the caller has checked that it is there.
template <class T>
T At(std::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// Fills `out` with exactly `size` bytes; false at the end of the input or where it is damaged.
bool ReadExactly(ByteStream& stream, std::string& out, size_t size, const Error*& damage, Error& kept) {
  out.resize(size);
  size_t done = 0;
  while (done < size) {
    auto got = stream.Read(out.data() + done, size - done);
    if (!got) return kept = got.error(), damage = &kept, false;
    if (*got == 0) return out.resize(done), false;
    done += *got;
  }
  return true;
}

class Rows {
 public:
  explicit Rows(TraceBuilder& builder) : builder_(builder), shard_(builder.NewShard()) {}

  // False: the record contradicts itself.
  bool Take(RecordKind kind, uint16_t count, std::string_view body) {
    switch (kind) {
      case RecordKind::kText: return Text(body);
      case RecordKind::kSeries: return Series(body);
      case RecordKind::kSamples: return Samples(count, body);
      case RecordKind::kEnd: ended_ = true; return true;
    }
    return true;  // a record of a later version
  }

  void Finish() {
    for (auto& [number, device] : devices_) builder_.AddDevice(std::move(device));
    builder_.info().event_count = samples_;
    builder_.Count("undefined_series", Severity::kLoss, undefined_, kAbsent,
                   "samples of series that the file does not define were left out");
    builder_.Count("not_a_number", Severity::kLoss, not_finite_, kAbsent, "samples that are no number were left out");
    builder_.Count("contradictory_records", Severity::kLoss, contradictory_, kAbsent,
                   "records whose parts do not fit their length were left out");
  }

  void Contradictory() { ++contradictory_; }
  bool ended() const { return ended_; }
  int64_t samples() const { return samples_; }

 private:
  struct Meaning {
    StringId name, unit;
    int32_t device;
  };

  bool Text(std::string_view body) {
    if (body.size() < sizeof(telemetry::TextBody)) return false;
    const auto sizes = At<telemetry::TextBody>(body, 0);
    body.remove_prefix(sizeof sizes);
    if (sizes.key_bytes > body.size() || sizes.value_bytes > body.size() - sizes.key_bytes) return false;
    const auto key = body.substr(0, sizes.key_bytes), value = body.substr(sizes.key_bytes, sizes.value_bytes);
    if (key.empty()) return false;
    builder_.AddEnvironment(key, value);
    if (key == "host") builder_.info().host = value;
    if (key.starts_with("gpu.")) Gpu(key.substr(4), value);
    return true;
  }

  // "0.uuid" and the like.
  void Gpu(std::string_view key, std::string_view value) {
    int32_t number = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
    if (error != std::errc() || number < 0 || end == key.data() + key.size() || *end != '.') return;
    const std::string_view what(end + 1, static_cast<size_t>(key.data() + key.size() - end - 1));
    DeviceRow& device = devices_[number];
    device.device = number, device.vendor = Vendor::kNvidia;
    if (what == "name") device.name = value;
    if (what == "uuid") device.uuid = value;
    if (what == "pci_bus_id") device.pcie_bus_id = value;
    int64_t bytes = 0;
    if (what == "memory_bytes" && std::from_chars(value.data(), value.data() + value.size(), bytes).ec == std::errc())
      device.memory_bytes = bytes;
  }

  bool Series(std::string_view body) {
    if (body.size() < sizeof(telemetry::SeriesBody)) return false;
    const auto head = At<telemetry::SeriesBody>(body, 0);
    body.remove_prefix(sizeof head);
    if (head.name_bytes > body.size() || head.unit_bytes > body.size() - head.name_bytes) return false;
    if (head.series >= telemetry::kMaxSeries || head.name_bytes == 0) return false;
    meanings_[head.series] = {shard_.Text(body.substr(0, head.name_bytes)),
                              shard_.Text(body.substr(head.name_bytes, head.unit_bytes)),
                              head.device >= 0 ? head.device : kAbsent32};
    return true;
  }

  // Adds the samples of one instant: first all values, then the numbers of their series.
  bool Samples(uint16_t count, std::string_view body) {
    if (body.size() < sizeof(telemetry::SamplesBody) + size_t{count} * 12) return false;
    const auto ts_ns = At<telemetry::SamplesBody>(body, 0).unix_ns;
    body.remove_prefix(sizeof(telemetry::SamplesBody));
    for (size_t i = 0; i < count; ++i) {
      const auto value = At<double>(body, i * sizeof(double));
      const auto meaning = meanings_.find(At<uint32_t>(body, count * sizeof(double) + i * sizeof(uint32_t)));
      if (meaning == meanings_.end()) {
        ++undefined_;
      } else if (!std::isfinite(value)) {
        ++not_finite_;
      } else {
        const auto& [name, unit, device] = meaning->second;
        shard_.Add(CounterRow{.name = name, .unit = unit, .device = device, .ts_ns = ts_ns, .value = value});
        ++samples_;
      }
    }
    return true;
  }

  TraceBuilder& builder_;
  TraceBuilder::Shard& shard_;
  std::map<uint32_t, Meaning> meanings_;
  std::map<int32_t, DeviceRow> devices_;
  int64_t samples_ = 0, undefined_ = 0, not_finite_ = 0, contradictory_ = 0;
  bool ended_ = false;
};

// Why reading stopped, when it was not at the end the writer set.
void CountEnd(TraceBuilder& builder, const Rows& rows, bool impossible, const Error* damage, uint64_t offset) {
  const auto at = static_cast<int64_t>(offset);
  if (damage != nullptr)
    builder.Count("damaged_input", Severity::kError, 1, at, StrCat("reading stopped: ", damage->message));
  else if (impossible)
    builder.Count("damaged_input", Severity::kError, 1, at, "reading stopped: a record's length cannot be");
  else if (!rows.ended())
    builder.Count("unfinished_telemetry", Severity::kInfo, 1, at,
                  "the sampler was stopped in the middle; the samples before are all there");
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(auto stream, source.Open());
  const Error* damage = nullptr;
  Error kept;
  std::string bytes;
  if (!ReadExactly(*stream, bytes, sizeof(FileHeader), damage, kept))
    return Fail(ErrorCode::kInput, "the file ends before its first record", source.path(), "record again");
  const auto header = At<FileHeader>(bytes, 0);
  if (header.version != telemetry::kVersion)
    return FromAnotherVersion("this recording of telemetry", header.version, telemetry::kVersion, source.path());
  if (header.header_bytes < sizeof header || header.header_bytes > 4096 ||
      !ReadExactly(*stream, bytes, header.header_bytes - sizeof header, damage, kept))
    return Fail(ErrorCode::kInput, "the file's header is damaged", source.path(), "copy it again");
  Rows rows(builder);
  uint64_t offset = header.header_bytes;
  bool impossible = false;
  while (!context.cancelled() && ReadExactly(*stream, bytes, sizeof(RecordHeader), damage, kept)) {
    const auto record = At<RecordHeader>(bytes, 0);
    impossible = record.bytes < sizeof record || record.bytes % 8 != 0 || record.bytes > telemetry::kMaxRecordBytes;
    if (impossible || !ReadExactly(*stream, bytes, record.bytes - sizeof record, damage, kept)) break;
    if (!rows.Take(static_cast<RecordKind>(record.kind), record.count, bytes)) rows.Contradictory();
    offset += record.bytes;
    if (context.progress) context.progress();
  }
  if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
  CountEnd(builder, rows, impossible, damage, offset);
  rows.Finish();
  return {};
}

// The recorder's clock is the wall clock.
void Complete(Trace& trace) {
  DropDeadCounters(trace);
  if (trace.counters.size() > 0) trace.info.start_unix_ns = trace.info.origin_ns;
}

}  // namespace

READER(telemetry) = {.name = "telemetry",
                     .help = "Telemetry of a host and its GPUs, as sampled beside a recording",
                     .extensions = kExtensions,
                     .sniff = SniffHead,
                     .read = Read,
                     .complete = Complete};

}  // namespace gapless::internal::telemetry_reader
