// SPDX-License-Identifier: Apache-2.0
// The messages of an XSpace. All texts refer to its bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/column.h"

namespace gapless::internal::xplane {

// A Stat is a named value of an event, of what events have in common, or of a plane.
struct Stat {
  enum class Kind : uint8_t { kNone, kReal, kWhole, kText, kReference } kind = Kind::kNone;
  int64_t name = 0;  // number of its name in the plane
  int64_t whole = 0;
  double real = 0;
  std::string_view text{};
};

// The fields that events of one kind have in common.
struct EventKind {
  std::string_view name{}, shown{};  // shown: a shorter name
  std::vector<Stat> stats{};
};

struct Line {
  int64_t id = 0, start_ns = 0;
  std::string_view name{};
  std::vector<std::string_view> events{};
};

struct Plane {
  int64_t id = 0;
  std::string_view name{};
  std::vector<Line> lines{};
  std::unordered_map<int64_t, EventKind> kinds{};
  std::unordered_map<int64_t, std::string_view> stat_names{};
  std::vector<Stat> stats{};
};

struct Space {
  std::vector<Plane> planes{};
  std::vector<std::string_view> said{}, hosts{};  // errors and warnings
  bool damaged = false;
};

struct Event {
  int64_t kind = 0, offset_ps = 0, duration_ps = 0;
  std::vector<Stat> stats{};
  bool sums_up = false;  // it stands for many, without their times
  bool damaged = false;
};

// Does the input begin like an XSpace: with a plane that has a name of one?
bool LooksLikeSpace(std::string_view head);
Space ReadSpace(std::string_view bytes);
void ReadEvent(std::string_view message, Event& event);

}  // namespace gapless::internal::xplane
