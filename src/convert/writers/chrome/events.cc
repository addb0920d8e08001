// SPDX-License-Identifier: Apache-2.0
// Appends events as JSON text to a block that goes to the sink when it is full. After the sink has refused a
// block, events are still built and thrown away; writers look at good() between batches of rows.
#include "convert/writers/chrome/events.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json_writer.h"

namespace gapless::internal::chrome {
namespace {

template <class Number>
void AppendNumber(std::string& out, Number number) {
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

// Works on the magnitude as an unsigned number, so that the smallest int64_t has one, too.
void AppendUs(std::string& out, int64_t ns) {
  auto magnitude = static_cast<uint64_t>(ns);
  if (ns < 0) {
    out += '-';
    magnitude = 0 - magnitude;
  }
  AppendNumber(out, magnitude / 1000);
  const auto below = static_cast<unsigned>(magnitude % 1000);
  const char digits[4] = {'.', static_cast<char>('0' + below / 100), static_cast<char>('0' + below / 10 % 10),
                          static_cast<char>('0' + below % 10)};
  out.append(digits, sizeof digits);
}

void Events::Raw(std::string_view text) { block_ += text; }

void Events::Flush() {
  bytes_ += static_cast<int64_t>(block_.size());
  if (good_ && !block_.empty()) good_ = sink_.Write(block_);
  block_.clear();
}

Events& Events::Begin(Kind kind, char phase, std::string_view category) {
  ++counts_[static_cast<size_t>(kind)];
  block_ += first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
  first_ = false;
  block_ += phase;
  if (!category.empty()) {
    block_ += "\",\"cat\":\"";
    block_ += category;
  }
  block_ += '"';
  return *this;
}

Events& Events::Name(StringId id) {
  block_ += ",\"name\":";
  texts_->AppendString(block_, id);
  return *this;
}

Events& Events::Name(std::string_view text) {
  block_ += ",\"name\":";
  AppendJsonString(block_, text);
  return *this;
}

Events& Events::Of(Place place) {
  block_ += ",\"pid\":";
  AppendNumber(block_, place.pid);
  block_ += ",\"tid\":";
  AppendNumber(block_, place.tid);
  return *this;
}

Events& Events::At(Place place, int64_t ts_ns) {
  Of(place);
  block_ += ",\"ts\":";
  AppendUs(block_, offset_ns_ + ts_ns);
  return *this;
}

Events& Events::Dur(int64_t dur_ns) {
  block_ += ",\"dur\":";
  AppendUs(block_, dur_ns);
  return *this;
}

void Events::Key(std::string_view key) {
  block_ += '"';
  block_ += key;
  block_ += "\":";
}

// Opens the object of arguments with the first one; an event without arguments has none.
void Events::ArgKey(std::string_view key) {
  block_ += in_args_ ? "," : ",\"args\":{";
  in_args_ = true;
  Key(key);
}

Events& Events::Field(std::string_view key, std::string_view text) {
  block_ += ',';
  Key(key);
  AppendJsonString(block_, text);
  return *this;
}

Events& Events::Field(std::string_view key, int64_t value) {
  block_ += ',';
  Key(key);
  AppendNumber(block_, value);
  return *this;
}

Events& Events::Arg(std::string_view key, int64_t value) {
  if (value == kAbsent) return *this;
  ArgKey(key);
  AppendNumber(block_, value);
  return *this;
}

Events& Events::Arg(std::string_view key, double value) {
  if (!std::isfinite(value)) return *this;
  ArgKey(key);
  AppendNumber(block_, value);
  return *this;
}

Events& Events::Arg(std::string_view key, float value) {
  if (!std::isfinite(value)) return *this;
  ArgKey(key);
  AppendNumber(block_, value);
  return *this;
}

Events& Events::Arg(std::string_view key, std::string_view text) {
  if (text.empty()) return *this;
  ArgKey(key);
  AppendJsonString(block_, text);
  return *this;
}

Events& Events::Arg(std::string_view key, StringId text) {
  if (text == StringId::kNone) return *this;
  ArgKey(key);
  texts_->AppendString(block_, text);
  return *this;
}

Events& Events::JsonArg(std::string_view key, StringId json) {
  if (json == StringId::kNone) return *this;
  ArgKey(key);
  texts_->AppendJson(block_, json);
  return *this;
}

Events& Events::RawArg(std::string_view key, std::string_view json_text) {
  if (json_text.empty()) return *this;
  ArgKey(key);
  block_ += json_text;
  return *this;
}

void Events::End() {
  block_ += in_args_ ? "}}" : "}";
  in_args_ = false;
  if (block_.size() >= kBlockBytes) Flush();
}

std::vector<std::pair<std::string_view, int64_t>> Events::counts() const {
  std::vector<std::pair<std::string_view, int64_t>> found;
  for (size_t i = 0; i < counts_.size(); ++i)
    if (counts_[i] > 0) found.emplace_back(kKindNames[i], counts_[i]);
  return found;
}

// The cache has two bits per text for "plain or to be escaped", and two for "JSON or not", found out at first use.

// Returns true if the text can be written between quotes as it is.
bool IsPlain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

void TextCache::AppendString(std::string& out, StringId id) {
  const std::string_view text = pool_[id];
  uint8_t& known = known_[static_cast<uint32_t>(id)];
  if ((known & (kPlain | kEscape)) == 0) known |= IsPlain(text) ? kPlain : kEscape;
  if ((known & kEscape) != 0) return AppendJsonString(out, text);
  out += '"';
  out += text;
  out += '"';
}

void TextCache::AppendJson(std::string& out, StringId id) {
  const std::string_view text = pool_[id];
  uint8_t& known = known_[static_cast<uint32_t>(id)];
  if ((known & (kJson | kNoJson)) == 0) known |= check_.IsValue(text) ? kJson : kNoJson;
  if ((known & kNoJson) != 0) return AppendString(out, id);
  out += text;
}

}  // namespace gapless::internal::chrome
