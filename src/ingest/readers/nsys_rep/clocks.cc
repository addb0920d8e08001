// SPDX-License-Identifier: Apache-2.0
// The time of day at which a session began, from what a report says of its clocks: offsets between pairs of clocks, or,
// since 2026, values of both clocks at one moment. docs/formats/nsys_rep.md says which of them lead to UTC.
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "base/wire_format.h"
#include "ingest/readers/nsys_rep/about.h"

namespace gapless::internal::nsys_rep {
namespace {

// Returns the number that a text is, which may be written signed or unsigned; nothing otherwise.
std::optional<int64_t> NumberOf(std::string_view text) {
  const char* end = text.data() + text.size();
  if (text.starts_with('-')) {
    int64_t value = 0;
    const auto [at, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && at == end ? std::optional(value) : std::nullopt;
  }
  uint64_t value = 0;
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end ? std::optional(static_cast<int64_t>(value)) : std::nullopt;
}

// Sums wrap around, as the numbers in the file do.
int64_t Sum(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }

// Two values of two clocks at the same moment.
struct Moment {
  int64_t one = 0, other = 0;
};

// A conversion: from which clock to which, and such a moment.
struct Conversion {
  std::string_view from{}, to{};
  std::optional<Moment> moment{};
};

std::optional<Moment> MomentOf(std::string_view message) {
  std::optional<Moment> moment;
  WireReader fields(message);
  while (fields.Next()) {
    if (fields.number() != 1 || !fields.is_bytes()) continue;
    moment.emplace();
    WireReader values(fields.bytes());
    while (values.Next()) {
      if (values.number() == 1) moment->one = values.Int();
      if (values.number() == 2) moment->other = values.Int();
    }
  }
  return moment;
}

Conversion ConversionOf(std::string_view message) {
  Conversion conversion;
  WireReader fields(message);
  while (fields.Next()) {
    if (fields.number() == 1) conversion.from = fields.bytes();
    if (fields.number() == 2) conversion.to = fields.bytes();
    if (fields.number() == 3) conversion.moment = MomentOf(fields.bytes());
  }
  return conversion;
}

}  // namespace

int64_t StartFromOffsets(std::string_view session) {
  std::map<std::pair<int64_t, int64_t>, int64_t> offsets;
  WireReader fields(session);
  while (fields.Next()) {
    if (fields.number() != 16) continue;
    WireReader list(fields.bytes());
    while (list.Next()) {
      int64_t from = 0, to = 0;
      std::optional<int64_t> offset;
      WireReader conversion(list.bytes());
      while (conversion.Next()) {
        if (conversion.number() == 1) from = conversion.Int();
        if (conversion.number() == 2) to = conversion.Int();
        if (conversion.number() == 5) offset = NumberOf(conversion.bytes());
      }
      if (offset) offsets.insert_or_assign({from, to}, *offset);
    }
  }
  const auto to_utc = offsets.find({3, 9});
  if (to_utc == offsets.end()) return kAbsent;
  int64_t sum = to_utc->second;
  for (const auto& step : {std::pair<int64_t, int64_t>(7, 1), {1, 3}})
    if (const auto known = offsets.find(step); known != offsets.end()) sum = Sum(sum, known->second);
  return Sum(0, static_cast<int64_t>(-static_cast<uint64_t>(sum)));
}

int64_t StartFromClocks(std::string_view conversions) {
  constexpr int64_t kUtc = 11, kSession = 15, kRecorder = 14;  // kinds of clocks
  std::map<std::string_view, int64_t> kinds;
  std::vector<Conversion> all;
  WireReader fields(conversions);
  while (fields.Next()) {
    WireReader list(fields.bytes());
    while (list.Next()) {
      if (fields.number() == 2) all.push_back(ConversionOf(list.bytes()));
      if (fields.number() != 1) continue;
      std::string_view clock;
      int64_t kind = kAbsent;
      WireReader about(list.bytes());
      while (about.Next()) {
        if (about.number() == 1) clock = about.bytes();
        if (about.number() == 2) kind = about.Int();
      }
      kinds.insert_or_assign(clock, kind);
    }
  }
  const auto kind_of = [&](std::string_view clock) {
    const auto known = kinds.find(clock);
    return known == kinds.end() ? kAbsent : known->second;
  };
  std::optional<Moment> utc, session;
  for (const Conversion& conversion : all) {
    if (!conversion.moment) continue;
    if (!utc && kind_of(conversion.from) == kUtc) utc = conversion.moment;
    if (kind_of(conversion.from) == kSession && kind_of(conversion.to) == kRecorder) session = conversion.moment;
  }
  if (!utc || !session) return kAbsent;
  return Sum(Sum(utc->one, session->one), static_cast<int64_t>(-static_cast<uint64_t>(utc->other)));
}

}  // namespace gapless::internal::nsys_rep
