// SPDX-License-Identifier: Apache-2.0
// Parses a chunk fast if it is clean, and event by event if it is not.
//
// A chunk is first taken as a whole, "[" + events + "]", which simdjson walks at about a gigabyte a second. If
// anything in it is not as it should be, its rows are forgotten and it is taken event by event: each one is found
// by bracket counting, cleaned if need be, parsed alone, and reported if it cannot be parsed. After an event that
// does not end, reading goes on where the next one seems to start. So one bad byte costs one event, and a clean
// file never pays for the care.
#include "ingest/readers/kineto/parse.h"

#include <simdjson.h>

#include <algorithm>
#include <new>

#include "ingest/readers/kineto/event_json.h"
#include "ingest/readers/kineto/scan.h"

namespace gapless::internal::kineto {
namespace {

// Returns true if parsing began. The parser allocates memory for its index, and a chunk for which there is none is not
// damaged.
bool Begins(od::parser& parser, const char* text, size_t size, size_t capacity, od::document& document) {
  const simdjson::error_code error = parser.iterate(text, size, capacity).get(document);
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  return error == simdjson::SUCCESS;
}

// Returns true if the document was consumed to its end. simdjson's on-demand parser does not look at what nobody
// asked for, so text behind the array would go unnoticed.
bool AtEnd(od::document& document) {
  const char* where = nullptr;
  return document.current_location().get(where) == simdjson::OUT_OF_BOUNDS;
}

}  // namespace

struct EventParser::Impl {
  od::parser parser;
  std::string event;  // one event with padding, for slow parsing
};

EventParser::EventParser(EventRows& rows, bool exact) : rows_(rows), exact_(exact), impl_(std::make_unique<Impl>()) {}
EventParser::~EventParser() = default;

EventParser::Outcome EventParser::Parse(Chunk& chunk, std::string& rest) {
  rows_.BeginChunk(chunk.order);
  if (ParseFast(chunk, rest)) return Outcome::kDone;
  rows_.DropChunk();
  return ParseSlowly(chunk, rest);
}

// Takes the whole chunk, if there is nothing odd about it.
// The brackets overwrite the bytes around the text; the byte behind is put back, since ParseSlowly reads it again.
// Returns false for anything odd; rows that were added until then must be dropped.
bool EventParser::ParseFast(Chunk& chunk, std::string& rest) {
  size_t size = chunk.size;
  if (chunk.last) {
    ArrayScanner scanner;
    size = scanner.Scan(chunk.view());
    if (!scanner.ended()) return false;
    rest.assign(chunk.text() + size, chunk.size - size);
    --size;  // the bracket
  }
  char* begin = chunk.text() - 1;
  const char behind = begin[1 + size];
  begin[0] = '[';
  begin[1 + size] = ']';
  const size_t capacity = chunk.data.size();
  od::document document;
  bool good = Begins(impl_->parser, begin, size + 2, capacity, document);
  od::array array;
  good = good && document.get_array().get(array) == simdjson::SUCCESS;
  if (good) {
    for (auto item : array) {
      od::object object;
      EventFields event;
      if (item.get_object().get(object) != simdjson::SUCCESS || TakeEvent(object, event) != simdjson::SUCCESS) {
        good = false;
        break;
      }
      rows_.Add(event, chunk.offset);
    }
  }
  good = good && AtEnd(document);
  begin[1 + size] = behind;
  return good;
}

// Takes the chunk event by event. A chunk that is unbalanced was cut at a wrong place; then, unless cutting is
// exact, nothing can be said about its events.
EventParser::Outcome EventParser::ParseSlowly(const Chunk& chunk, std::string& rest) {
  std::string_view text = chunk.view();
  ArrayScanner scanner;
  const size_t scanned = scanner.Scan(text);
  const bool whole = chunk.last ? scanner.ended() : !scanner.ended() && scanner.balanced();
  if (!chunk.last && !whole && !exact_) return Outcome::kMisCut;
  if (scanner.ended()) {
    rest.assign(text.substr(scanned));
    text = text.substr(0, scanned - 1);
  }
  // An event that does not close is scanned again from its next comma. The budget keeps the total linear in the file.
  size_t to_see = 2 * kMaxNesting * text.size();
  for (size_t at = 0; at < text.size();) {
    if (to_see == 0) return Outcome::kTruncated;
    const char c = text[at];
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ',') {
      ++at;
      continue;
    }
    const ScannedValue value = c == '{' ? ScanValue(text, at) : ScannedValue{};
    const size_t end = value.end;
    to_see -= std::min(to_see, value.seen);
    const Note bad = c != '{' ? Note::kStray : value.too_deep ? Note::kDeepEvent : Note::kBadEvent;
    if (end != kNotFound && ParseOne(text.substr(at, end - at), chunk.offset + at)) {
      at = end;
      continue;
    }
    const size_t comma = FirstEventComma(text, at);
    if (comma == kNotFound) {
      if (end == kNotFound && chunk.last && !whole) return Outcome::kTruncated;
      rows_.Tell(bad, chunk.offset + at);
      at = end == kNotFound ? text.size() : end;
    } else {
      if (c != '{' || !ParseOne(text.substr(at, comma - at), chunk.offset + at)) rows_.Tell(bad, chunk.offset + at);
      at = comma + 1;
    }
  }
  return whole ? Outcome::kDone : Outcome::kTruncated;
}

// Tries the event as it is, then with bad characters replaced. Returns false if it is no JSON even then.
bool EventParser::ParseOne(std::string_view event, uint64_t offset) {
  if (ParseClean(event, offset)) return true;
  const Cleaned cleaned = Clean(event);
  if (!cleaned.had_control && !cleaned.had_invalid_utf8) return false;
  if (!ParseClean(cleaned.text, offset)) return false;
  if (cleaned.had_control) rows_.Tell(Note::kControlCharacters, offset);
  if (cleaned.had_invalid_utf8) rows_.Tell(Note::kInvalidUtf8, offset);
  return true;
}

// Parses a copy, since simdjson needs padding behind the text. The second attempt is for counters whose phase
// stands behind their arguments: it starts with the phase known.
bool EventParser::ParseClean(std::string_view event, uint64_t offset) {
  std::string& copy = impl_->event;
  copy.assign(event);
  copy.resize(event.size() + simdjson::SIMDJSON_PADDING, ' ');
  EventFields fields;
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::string_view phase = fields.ph;
    fields = {};
    fields.ph = phase;
    od::document document;
    od::object object;
    if (!Begins(impl_->parser, copy.data(), event.size(), copy.size(), document)) return false;
    if (document.get_object().get(object) != simdjson::SUCCESS) return false;
    const auto error = TakeEvent(object, fields);
    if (error == simdjson::SUCCESS) {
      if (!AtEnd(document)) return false;
      rows_.Add(fields, offset);
      return true;
    }
    if (error != simdjson::INCORRECT_TYPE || fields.ph != "\"C\"") return false;
  }
  return false;
}

}  // namespace gapless::internal::kineto
