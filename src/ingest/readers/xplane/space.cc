// SPDX-License-Identifier: Apache-2.0
// Numbers of fields as in xplane.proto, which TensorFlow, JAX and XProf publish. Fields that are not known are passed
// over. Lines may stand before the names that they refer to, so events stay messages until all is there.
#include "ingest/readers/xplane/space.h"

#include "base/wire_format.h"

namespace gapless::internal::xplane {
namespace {

Stat ReadStat(std::string_view message, bool& damaged) {
  Stat stat;
  WireReader fields(message);
  while (fields.Next()) switch (fields.number()) {
      case 1: stat.name = fields.Int(); break;
      case 2: stat.kind = Stat::Kind::kReal, stat.real = fields.Real(); break;
      case 3:
      case 4: stat.kind = Stat::Kind::kWhole, stat.whole = fields.Int(); break;
      case 5: stat.kind = Stat::Kind::kText, stat.text = fields.bytes(); break;
      case 7: stat.kind = Stat::Kind::kReference, stat.whole = fields.Int(); break;
      default: break;
    }
  damaged |= fields.damaged();
  return stat;
}

// An entry of a map: its key, and the message that is its value.
struct Entry {
  int64_t key = 0;
  std::string_view value{};
};
Entry ReadEntry(std::string_view message, bool& damaged) {
  Entry entry;
  WireReader fields(message);
  while (fields.Next()) {
    if (fields.number() == 1) entry.key = fields.Int();
    if (fields.number() == 2) entry.value = fields.bytes();
  }
  damaged |= fields.damaged();
  return entry;
}

EventKind ReadKind(std::string_view message, bool& damaged) {
  EventKind kind;
  WireReader fields(message);
  while (fields.Next()) {
    if (fields.number() == 2) kind.name = fields.bytes();
    if (fields.number() == 4) kind.shown = fields.bytes();
    if (fields.number() == 5) kind.stats.push_back(ReadStat(fields.bytes(), damaged));
  }
  damaged |= fields.damaged();
  return kind;
}

std::string_view ReadStatName(std::string_view message, bool& damaged) {
  std::string_view name;
  WireReader fields(message);
  while (fields.Next())
    if (fields.number() == 2) name = fields.bytes();
  damaged |= fields.damaged();
  return name;
}

Line ReadLine(std::string_view message, bool& damaged) {
  Line line;
  int64_t shown_id = 0;
  std::string_view shown;
  WireReader fields(message);
  while (fields.Next()) switch (fields.number()) {
      case 1: line.id = fields.Int(); break;
      case 2: line.name = fields.bytes(); break;
      case 3: line.start_ns = fields.Int(); break;
      case 4: line.events.push_back(fields.bytes()); break;
      case 10: shown_id = fields.Int(); break;
      case 11: shown = fields.bytes(); break;
      default: break;
    }
  damaged |= fields.damaged();
  if (shown_id != 0) line.id = shown_id;
  if (!shown.empty()) line.name = shown;
  return line;
}

Plane ReadPlane(std::string_view message, bool& damaged) {
  Plane plane;
  WireReader fields(message);
  while (fields.Next()) switch (fields.number()) {
      case 1: plane.id = fields.Int(); break;
      case 2: plane.name = fields.bytes(); break;
      case 3: plane.lines.push_back(ReadLine(fields.bytes(), damaged)); break;
      case 4: {
        const Entry entry = ReadEntry(fields.bytes(), damaged);
        plane.kinds.insert_or_assign(entry.key, ReadKind(entry.value, damaged));
        break;
      }
      case 5: {
        const Entry entry = ReadEntry(fields.bytes(), damaged);
        plane.stat_names.insert_or_assign(entry.key, ReadStatName(entry.value, damaged));
        break;
      }
      case 6: plane.stats.push_back(ReadStat(fields.bytes(), damaged)); break;
      default: break;
    }
  damaged |= fields.damaged();
  return plane;
}

// The beginning of a message that is longer than what is there of it.
std::string_view BeginningOf(std::string_view bytes) {
  uint64_t size = 0;
  if (bytes.empty() || bytes[0] != '\x0a') return {};
  bytes.remove_prefix(1);
  return TakeVarint(bytes, size) && size > 0 ? bytes.substr(0, size) : std::string_view();
}

bool IsNameOfPlane(std::string_view name) {
  for (const std::string_view known : {"/device:", "/host:", "Task Environment", "#Chip", "/job:"})
    if (name.starts_with(known)) return true;
  return false;
}

}  // namespace

bool LooksLikeSpace(std::string_view head) {
  WireReader fields(BeginningOf(head));
  for (int i = 0; i < 3 && fields.Next(); ++i) {
    if (fields.number() == 2) return fields.is_bytes() && IsNameOfPlane(fields.bytes());
    if (fields.number() != 1 || fields.is_bytes()) return false;
  }
  return false;
}

Space ReadSpace(std::string_view bytes) {
  Space space;
  std::string_view rest = bytes;
  WireReader fields(bytes);
  while (fields.Next()) {
    if (fields.number() == 1) space.planes.push_back(ReadPlane(fields.bytes(), space.damaged));
    if (fields.number() == 2 || fields.number() == 3) space.said.push_back(fields.bytes());
    if (fields.number() == 4) space.hosts.push_back(fields.bytes());
    if (fields.is_bytes()) rest = bytes.substr(static_cast<size_t>(fields.bytes().end() - bytes.begin()));
  }
  if (!fields.damaged()) return space;
  // A plane that was cut off holds what stands in it.
  space.damaged = true;
  if (const std::string_view cut = BeginningOf(rest); !cut.empty())
    space.planes.push_back(ReadPlane(cut, space.damaged));
  return space;
}

void ReadEvent(std::string_view message, Event& event) {
  event = {};
  WireReader fields(message);
  while (fields.Next()) switch (fields.number()) {
      case 1: event.kind = fields.Int(); break;
      case 2: event.offset_ps = fields.Int(); break;
      case 3: event.duration_ps = fields.Int(); break;
      case 4: event.stats.push_back(ReadStat(fields.bytes(), event.damaged)); break;
      case 5: event.sums_up = true; break;
      default: break;
    }
  event.damaged |= fields.damaged();
}

}  // namespace gapless::internal::xplane
