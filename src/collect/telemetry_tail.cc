// SPDX-License-Identifier: Apache-2.0
// Reads new bytes of telemetry files and decodes complete records; an incomplete one waits for the rest. Files
// come from other processes, so every length is checked; the first impossible record ends the reading of its file.
// At most 1024 files are followed.
#include "collect/telemetry_tail.h"

#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "collect/private_files.h"
#include "wire/telemetry_stream.h"

namespace gapless::internal {
namespace {

using telemetry::RecordHeader;
using telemetry::RecordKind;

constexpr std::string_view kStem = "telemetry", kEnd = ".gts";
constexpr size_t kMaxFiles = 1024, kChunkBytes = size_t{1} << 16;

template <class T>
T At(std::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// Appends what can be read, at most `most` bytes.
void Append(int descriptor, std::string& out, size_t most) {
  while (most > 0) {
    const size_t before = out.size(), wanted = std::min(most, kChunkBytes);
    out.resize(before + wanted);
    const ssize_t got = ::read(descriptor, out.data() + before, wanted);
    out.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0) return;
    most -= static_cast<size_t>(got);
  }
}

}  // namespace

void TelemetryTail::ReadNew(int folder) {
  for (const std::string& name : NamesIn(folder)) {
    if (!name.starts_with(kStem) || !name.ends_with(kEnd) || files_.contains(name) || files_.size() >= kMaxFiles)
      continue;
    if (Descriptor opened = OpenPlainFile(folder, name, O_RDONLY)) files_[name].descriptor = std::move(opened);
  }
  for (auto& [name, file] : files_) {
    if (file.ended) continue;
    Append(file.descriptor.get(), file.rest, kMaxReadBytes);
    TakeRecords(file, hosts_[name]);
  }
}

// Stops at a record that is not whole yet, and keeps it for the next call.
void TelemetryTail::TakeRecords(File& file, Host& host) {
  std::string_view left = file.rest;
  if (!file.has_header) {
    if (left.size() < sizeof(telemetry::FileHeader)) return;
    const auto header = At<telemetry::FileHeader>(left, 0);
    const bool known = left.starts_with(std::string_view(telemetry::kMagic, sizeof telemetry::kMagic)) &&
                       header.version == telemetry::kVersion && header.header_bytes == sizeof header;
    if (!known) return void(file.ended = true);
    file.has_header = true;
    left.remove_prefix(sizeof header);
  }
  while (left.size() >= sizeof(RecordHeader)) {
    const auto head = At<RecordHeader>(left, 0);
    if (head.bytes < sizeof head || head.bytes % 8 != 0 || head.bytes > telemetry::kMaxRecordBytes)
      return void(file.ended = true);
    if (head.bytes > left.size()) break;
    TakeRecord(file, host, head.kind, head.count, left.substr(sizeof head, head.bytes - sizeof head));
    left.remove_prefix(head.bytes);
  }
  file.rest.erase(0, file.rest.size() - left.size());
}

void TelemetryTail::TakeRecord(File& file, Host& host, uint16_t kind, uint16_t count, std::string_view body) {
  if (kind == static_cast<uint16_t>(RecordKind::kText) && body.size() >= sizeof(telemetry::TextBody)) {
    const auto head = At<telemetry::TextBody>(body, 0);
    body.remove_prefix(sizeof head);
    if (head.key_bytes > body.size() || head.value_bytes > body.size() - head.key_bytes) return;
    if (body.substr(0, head.key_bytes) == "host") host.name = body.substr(head.key_bytes, head.value_bytes);
  } else if (kind == static_cast<uint16_t>(RecordKind::kSeries) && body.size() >= sizeof(telemetry::SeriesBody)) {
    const auto head = At<telemetry::SeriesBody>(body, 0);
    body.remove_prefix(sizeof head);
    const bool is_sound = head.name_bytes <= body.size() && head.series < telemetry::kMaxSeries;
    if (is_sound && head.device >= 0)
      file.series[head.series] = {std::string(body.substr(0, head.name_bytes)), head.device};
  } else if (kind == static_cast<uint16_t>(RecordKind::kSamples)) {
    if (body.size() < sizeof(telemetry::SamplesBody) + size_t{count} * 12) return;
    body.remove_prefix(sizeof(telemetry::SamplesBody));
    for (size_t i = 0; i < count; ++i) {
      const auto series = file.series.find(At<uint32_t>(body, count * sizeof(double) + i * sizeof(uint32_t)));
      const auto value = At<double>(body, i * sizeof(double));
      if (series != file.series.end() && std::isfinite(value)) host.values[series->second] = value;
    }
  }
}

}  // namespace gapless::internal
