// SPDX-License-Identifier: Apache-2.0
// Writes columns in the shortest of a few forms, and reads them with every length checked before it is used.
#include "trace/sections.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/wire_format.h"

namespace gapless::internal {
namespace {

enum Form : uint8_t { kNothing, kSame, kPlain, kDifferences, kFromRow };
constexpr uint8_t kSomeAbsent = 0x80;  // flag of a form: a bit for each row comes first
// A row costs a bit at least where rows differ, so a short section that claims many rows was made to take memory.
constexpr uint64_t kMaxRowsOfByte = 64, kMaxRowsOfAny = 4096;
constexpr size_t kRealBytes = sizeof(double);

void PutVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

uint64_t ZigZag(int64_t value) { return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63); }
int64_t UnZigZag(uint64_t value) { return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1); }
// Differences wrap around, so that every pair of values has one.
int64_t Wrapped(uint64_t value) { return static_cast<int64_t>(value); }

void PutReal(double value, std::string& out) {
  const auto bits = std::bit_cast<uint64_t>(value);
  for (size_t byte = 0; byte < kRealBytes; ++byte) out += static_cast<char>(bits >> (8 * byte));
}
double RealAt(std::string_view bytes) {
  uint64_t bits = 0;
  for (size_t byte = 0; byte < kRealBytes; ++byte)
    bits |= uint64_t{static_cast<unsigned char>(bytes[byte])} << (8 * byte);
  return std::bit_cast<double>(bits);
}

// A bit for each row, empty where all are present.
template <class T, class IsThere>
std::string PresentBits(std::span<const T> values, IsThere is_there) {
  if (std::ranges::all_of(values, is_there)) return {};
  std::string bits((values.size() + 7) / 8, '\0');
  for (size_t row = 0; row < values.size(); ++row)
    if (is_there(values[row])) bits[row / 8] = static_cast<char>(bits[row / 8] | 1 << (row % 8));
  return bits;
}

// Integers in each of the forms.
std::string Plain(std::span<const int64_t> values) {
  std::string out;
  for (const int64_t value : values)
    if (value != kAbsent) PutVarint(ZigZag(value), out);
  return out;
}

std::string Differences(std::span<const int64_t> values) {
  std::string out;
  int64_t before = 0;
  for (const int64_t value : values) {
    if (value == kAbsent) continue;
    PutVarint(ZigZag(Wrapped(static_cast<uint64_t>(value) - static_cast<uint64_t>(before))), out);
    before = value;
  }
  return out;
}

std::string FromRow(std::span<const int64_t> values) {
  std::string out;
  for (size_t row = 0; row < values.size(); ++row)
    if (values[row] != kAbsent) PutVarint(ZigZag(Wrapped(row - static_cast<uint64_t>(values[row]))), out);
  return out;
}

}  // namespace

void SectionWriter::Begin(std::string_view section, size_t rows) {
  sections_.push_back({.name = TextId(section), .rows = rows});
}

uint64_t SectionWriter::TextId(std::string_view text) {
  if (const auto known = ids_.find(text); known != ids_.end()) return known->second;
  texts_ += text;
  PutVarint(text.size(), lengths_);
  return ids_.emplace(text, ids_.size()).first->second;
}

void SectionWriter::Column(std::string_view column, ColumnType type, std::string_view present, uint8_t form,
                           std::string_view data) {
  Section& section = sections_.back();
  ++section.columns;
  PutVarint(TextId(column), section.bytes);
  section.bytes += static_cast<char>(type);
  section.bytes += static_cast<char>(present.empty() ? form : form | kSomeAbsent);
  PutVarint(present.size() + data.size(), section.bytes);
  section.bytes += present;
  section.bytes += data;
}

void SectionWriter::Ints(std::string_view column, std::span<const int64_t> values) {
  if (std::ranges::all_of(values, [](int64_t value) { return value == kAbsent; }))
    return Column(column, ColumnType::kInt, {}, kNothing, {});
  if (std::ranges::all_of(values, [&](int64_t value) { return value == values.front(); }))
    return Column(column, ColumnType::kInt, {}, kSame, Plain(values.first(1)));
  const std::string present = PresentBits(values, [](int64_t value) { return value != kAbsent; });
  const std::pair<Form, std::string> forms[] = {
      {kPlain, Plain(values)}, {kDifferences, Differences(values)}, {kFromRow, FromRow(values)}};
  const auto shortest = std::ranges::min_element(forms, {}, [](const auto& form) { return form.second.size(); });
  Column(column, ColumnType::kInt, present, shortest->first, shortest->second);
}

void SectionWriter::Reals(std::string_view column, std::span<const double> values) {
  const auto is_there = [](double value) { return !std::isnan(value); };
  if (std::ranges::none_of(values, is_there)) return Column(column, ColumnType::kReal, {}, kNothing, {});
  std::string data;
  for (const double value : values)
    if (is_there(value)) PutReal(value, data);
  Column(column, ColumnType::kReal, PresentBits(values, is_there), kPlain, data);
}

void SectionWriter::Texts(std::string_view column, std::span<const std::string_view> values) {
  if (std::ranges::all_of(values, &std::string_view::empty)) return Column(column, ColumnType::kText, {}, kNothing, {});
  std::vector<int64_t> ids;
  for (const std::string_view value : values)
    ids.push_back(value.empty() ? kAbsent : static_cast<int64_t>(TextId(value)));
  const bool same = std::ranges::all_of(ids, [&](int64_t id) { return id == ids.front(); });
  if (same) return Column(column, ColumnType::kText, {}, kSame, Plain(std::span(ids).first(1)));
  const std::string present = PresentBits(std::span<const int64_t>(ids), [](int64_t id) { return id != kAbsent; });
  Column(column, ColumnType::kText, present, kPlain, Plain(ids));
}

std::string SectionWriter::Finish() && {
  std::string out;
  PutVarint(ids_.size(), out);
  out += lengths_;
  out += texts_;
  PutVarint(sections_.size(), out);
  for (const Section& section : sections_) {
    PutVarint(section.name, out), PutVarint(section.rows, out), PutVarint(section.columns, out);
    out += section.bytes;
  }
  return out;
}

namespace {

// Takes the texts off the front; false if they do not fit.
bool TakeTexts(std::string_view& rest, std::vector<std::string_view>& texts) {
  uint64_t count = 0;
  if (!TakeVarint(rest, count) || count > rest.size()) return false;
  std::vector<uint64_t> lengths(count);
  for (uint64_t& length : lengths)
    if (!TakeVarint(rest, length)) return false;
  for (const uint64_t length : lengths) {
    if (length > rest.size()) return false;
    texts.push_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  return true;
}

}  // namespace

Result<SectionReader> SectionReader::Open(std::shared_ptr<const std::string> bytes) {
  const auto damaged = [] { return Fail(ErrorCode::kInput, "is damaged: its sections do not fit together"); };
  SectionReader reader;
  reader.bytes_ = std::move(bytes);
  reader.texts_ = std::make_unique<std::vector<std::string_view>>();
  std::string_view rest = *reader.bytes_;
  uint64_t count = 0;
  if (!TakeTexts(rest, *reader.texts_) || reader.texts_->empty() || !reader.texts_->front().empty() ||
      !TakeVarint(rest, count) || count > rest.size())
    return damaged();
  const auto take_name = [&](std::string_view& name) {
    uint64_t id = 0;
    if (!TakeVarint(rest, id) || id >= reader.texts_->size()) return false;
    name = (*reader.texts_)[id];
    return true;
  };
  for (uint64_t i = 0; i < count; ++i) {
    Section& section = reader.sections_.emplace_back();
    section.texts_ = reader.texts_.get();
    uint64_t rows = 0, columns = 0;
    if (!take_name(section.name_) || !TakeVarint(rest, rows) || !TakeVarint(rest, columns) || columns > rest.size())
      return damaged();
    size_t held = 0;
    for (uint64_t column = 0; column < columns; ++column) {
      Section::Column& its = section.columns_.emplace_back();
      if (!take_name(its.name) || rest.size() < 2) return damaged();
      its.type = static_cast<ColumnType>(rest[0]), its.form = static_cast<uint8_t>(rest[1]);
      rest.remove_prefix(2);
      if (!TakeMessage(rest, its.data)) return damaged();
      held += its.data.size();
    }
    if (rows > kMaxRowsOfAny && rows > kMaxRowsOfByte * held) return damaged();
    section.rows_ = rows;
  }
  return reader;
}

const SectionReader::Section* SectionReader::Find(std::string_view name) const {
  const auto found = std::ranges::find(sections_, name, &Section::name_);
  return found == sections_.end() ? nullptr : &*found;
}

const SectionReader::Section::Column* SectionReader::Section::Find(std::string_view column) const {
  const auto found = std::ranges::find(columns_, column, &Column::name);
  return found == columns_.end() ? nullptr : &*found;
}

template <class F>
void SectionReader::Section::EachPresent(const Column& column, F&& f) const {
  std::string_view data = column.data, bits;
  if ((column.form & kSomeAbsent) != 0) {
    const size_t size = (rows_ + 7) / 8;
    if (data.size() < size) return;
    bits = data.substr(0, size);
    data.remove_prefix(size);
  }
  for (size_t row = 0; row < rows_; ++row)
    if (bits.empty() || (static_cast<unsigned char>(bits[row / 8]) >> (row % 8) & 1) != 0)
      if (!f(row, data)) return;
}

std::vector<int64_t> SectionReader::Section::Ints(std::string_view name) const {
  std::vector<int64_t> values(rows_, kAbsent);
  const Column* column = Find(name);
  if (column == nullptr || column->type != ColumnType::kInt) return values;
  const auto form = static_cast<uint8_t>(column->form & ~kSomeAbsent);
  if (form == kSame) {
    std::string_view data = column->data;
    if (uint64_t value = 0; TakeVarint(data, value)) std::ranges::fill(values, UnZigZag(value));
  } else if (form >= kPlain && form <= kFromRow) {
    uint64_t before = 0;
    EachPresent(*column, [&](size_t row, std::string_view& data) {
      uint64_t value = 0;
      if (!TakeVarint(data, value)) return false;
      const auto number = static_cast<uint64_t>(UnZigZag(value));
      before = form == kDifferences ? before + number : form == kFromRow ? row - number : number;
      values[row] = Wrapped(before);
      return true;
    });
  }
  return values;
}

std::vector<double> SectionReader::Section::Reals(std::string_view name) const {
  std::vector<double> values(rows_, std::numeric_limits<double>::quiet_NaN());
  const Column* column = Find(name);
  if (column == nullptr || column->type != ColumnType::kReal || (column->form & ~kSomeAbsent) != kPlain) return values;
  EachPresent(*column, [&](size_t row, std::string_view& data) {
    if (data.size() < kRealBytes) return false;
    values[row] = RealAt(data);
    data.remove_prefix(kRealBytes);
    return true;
  });
  return values;
}

std::vector<uint32_t> SectionReader::Section::TextIds(std::string_view name) const {
  std::vector<uint32_t> ids(rows_);
  const Column* column = Find(name);
  if (column == nullptr || column->type != ColumnType::kText) return ids;
  const auto take = [&](std::string_view& data, uint32_t& id) {
    uint64_t value = 0;
    if (!TakeVarint(data, value)) return false;
    const auto at = static_cast<uint64_t>(UnZigZag(value));
    if (at < texts_->size()) id = static_cast<uint32_t>(at);
    return true;
  };
  const auto form = static_cast<uint8_t>(column->form & ~kSomeAbsent);
  if (form == kSame) {
    std::string_view data = column->data;
    if (uint32_t id = 0; take(data, id)) std::ranges::fill(ids, id);
  } else if (form == kPlain) {
    EachPresent(*column, [&](size_t row, std::string_view& data) { return take(data, ids[row]); });
  }
  return ids;
}

std::vector<std::string_view> SectionReader::Section::Texts(std::string_view name) const {
  std::vector<std::string_view> values;
  values.reserve(rows_);
  for (const uint32_t id : TextIds(name)) values.push_back((*texts_)[id]);
  return values;
}

int64_t SectionReader::Section::Int(std::string_view column) const { return rows_ > 0 ? Ints(column)[0] : kAbsent; }
std::string_view SectionReader::Section::Text(std::string_view column) const {
  return rows_ > 0 ? Texts(column)[0] : std::string_view();
}

}  // namespace gapless::internal
