// SPDX-License-Identifier: Apache-2.0
// Each kind of stored value (query/stored_values.h) is one overload here. What no overload takes, and the results of
// analyses and queries, is read cell by cell.
#include "api/arrow_columns.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <variant>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD, for what is no UTF-8

// Sets values.present for rows that `is_absent` says are, and leaves it out where none is: most columns have no such
// row, and looking for one is faster than making bits.
template <class F>
void MarkAbsent(ArrowValues& values, size_t rows, F&& is_absent) {
  bool any = false;
  for (size_t row = 0; row < rows && !any;) {
    const size_t end = std::min(rows, row + 4096);
    for (; row < end; ++row) any |= is_absent(row);  // without a way out, so that many rows are compared at once
  }
  if (!any) return;
  auto bits = std::make_shared<std::vector<uint8_t>>((rows + 7) / 8);
  for (size_t row = 0; row < rows; row += 8) {
    unsigned byte = 0;
    const size_t end = std::min<size_t>(8, rows - row);
    for (size_t i = 0; i < end; ++i) byte |= (is_absent(row + i) ? 0U : 1U) << i;
    (*bits)[row / 8] = static_cast<uint8_t>(byte);
    values.absent += static_cast<int64_t>(end) - std::popcount(byte);
  }
  values.present = bits->data();
  values.owners.push_back(std::move(bits));
}

bool IsAbsent(int64_t value) { return value == kAbsent; }
bool IsAbsent(double value) { return std::isnan(value); }

// Values that lie as Arrow wants them, in memory that `owner` keeps.
template <class T>
ArrowValues InPlace(const T* values, size_t rows, std::shared_ptr<const void> owner) {
  ArrowValues made{.values = values};
  made.owners.push_back(std::move(owner));
  MarkAbsent(made, rows, [values](size_t row) { return IsAbsent(values[row]); });
  return made;
}

// Values that `of(row)` returns, in new memory. Pages that stay zero cost nothing.
template <class T, class F>
ArrowValues Computed(size_t rows, F&& of) {
  auto memory = AllocatePages(rows * sizeof(T));
  T* values = reinterpret_cast<T*>(memory.get());
  for (size_t row = 0; row < rows; ++row) values[row] = of(row);
  return InPlace(values, rows, std::move(memory));
}

template <class T>
ArrowValues SameInAll(size_t rows, T value) {
  if (!IsAbsent(value)) return Computed<T>(rows, [value](size_t) { return value; });
  ArrowValues made{.absent = static_cast<int64_t>(rows)};
  auto memory = AllocatePages(rows * sizeof(T));
  made.values = memory.get();
  made.owners.push_back(std::move(memory));
  auto bits = std::make_shared<std::vector<uint8_t>>((rows + 7) / 8);
  made.present = bits->data();
  made.owners.push_back(std::move(bits));
  return made;
}

// A stored column whose values are as `to` makes them.
template <class To, class From, class F>
ArrowValues Converted(const Column<From>& column, size_t rows, F&& to) {
  if (rows == 0 || column.same()) return SameInAll<To>(rows, rows == 0 ? To() : to(column[0]));
  return Computed<To>(rows, [&column, &to](size_t row) { return to(column[row]); });
}

// Makes numbers of stored values; absent where the column is of another kind.
struct NumbersOf {
  size_t rows;
  const std::shared_ptr<const TableData>& table;

  using Made = std::optional<ArrowValues>;
  Made operator()(const Column<int64_t>* column) const {
    if (column->same()) return SameInAll(rows, (*column)[0]);
    return InPlace(column->stored().data(), rows, table);
  }
  Made operator()(const Column<double>* column) const {
    if (column->same()) return SameInAll(rows, (*column)[0]);
    return InPlace(column->stored().data(), rows, table);
  }
  Made operator()(const Column<int32_t>* column) const {
    return Converted<int64_t>(*column, rows,
                              [](int32_t value) { return value == kAbsent32 ? kAbsent : int64_t{value}; });
  }
  Made operator()(const Column<uint16_t>* column) const {
    return Converted<int64_t>(*column, rows, [](uint16_t value) { return int64_t{value}; });
  }
  Made operator()(const Column<uint8_t>* column) const {
    return Converted<int64_t>(*column, rows, [](uint8_t value) { return int64_t{value}; });
  }
  Made operator()(const Column<float>* column) const {
    return Converted<double>(*column, rows, [](float value) { return double{value}; });
  }
  Made operator()(const StoredTimes& times) const {
    if (times.shift_ns == 0) return (*this)(times.values);
    return Converted<int64_t>(*times.values, rows,
                              [&times](int64_t value) { return IsAbsent(value) ? kAbsent : value + times.shift_ns; });
  }
  template <class Id>
  Made operator()(const StoredIds<Id>& ids) const {
    return Converted<int64_t>(*ids.values, rows,
                              [&ids](Id value) { return value.valid() ? ids.first_id + value.value : kAbsent; });
  }
  Made operator()(const StoredSteps& steps) const {
    return Converted<int64_t>(*steps.values, rows, [&steps](StepId value) {
      return value.valid() ? (*steps.numbers)[value.value] : kAbsent;
    });
  }
  Made operator()(StoredSame same) const { return SameInAll(rows, same.value); }
  Made operator()(StoredRange range) const {
    return Computed<int64_t>(rows, [&range](size_t row) { return range.first + static_cast<int64_t>(row); });
  }
  template <class T>
  Made operator()(const T&) const {  // texts, and what is not stored
    return std::nullopt;
  }
};

// Returns true if all of it is UTF-8.
bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string AsUtf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    out += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

// Gathers the texts of a column, each once, in the order in which they come.
class TextGatherer {
 public:
  int32_t Number(std::string_view text) {
    const StringId id = IsUtf8(text) ? pool_.Intern(text) : pool_.Intern(AsUtf8(text));
    return static_cast<int32_t>(static_cast<uint32_t>(id)) - 1;
  }
  std::shared_ptr<const ArrowTexts> Finish() const;

 private:
  StringPool pool_;  // its first text is the empty one, which is absent
};

std::shared_ptr<const ArrowTexts> TextGatherer::Finish() const {
  auto texts = std::make_shared<ArrowTexts>();
  texts->size = pool_.size() - 1;
  texts->long_offsets.push_back(0);
  for (size_t id = 1; id < pool_.size(); ++id) {
    texts->bytes += pool_[static_cast<StringId>(id)];
    texts->long_offsets.push_back(static_cast<int64_t>(texts->bytes.size()));
  }
  if (texts->bytes.size() <= static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    texts->short_offsets.assign(texts->long_offsets.begin(), texts->long_offsets.end());
    texts->long_offsets.clear();
  }
  return texts;
}

constexpr int32_t kNoText = -1;

// Numbers of texts, of which kNoText is absent.
template <class F>
ArrowValues Numbers(size_t rows, F&& of) {
  auto memory = AllocatePages(rows * sizeof(int32_t));
  auto* numbers = reinterpret_cast<int32_t*>(memory.get());
  for (size_t row = 0; row < rows; ++row) numbers[row] = of(row);
  ArrowValues made{.values = numbers};
  made.owners.push_back(std::move(memory));
  MarkAbsent(made, rows, [numbers](size_t row) { return numbers[row] == kNoText; });
  // A number that no text has would be out of bounds for a reader that looks at all rows.
  if (made.absent > 0)
    for (size_t row = 0; row < rows; ++row) numbers[row] = std::max(numbers[row], 0);
  return made;
}

ArrowValues Numbers(size_t rows, const StoredTexts& stored, TextGatherer& texts) {
  constexpr int32_t kNotSeen = -2;
  std::vector<int32_t> numbers(stored.texts->size(), kNotSeen);
  numbers[0] = kNoText;
  return Numbers(rows, [&](size_t row) {
    const StringId id = (*stored.values)[row];
    int32_t& number = numbers[static_cast<uint32_t>(id)];
    if (number == kNotSeen) number = texts.Number((*stored.texts)[id]);
    return number;
  });
}

ArrowValues Numbers(size_t rows, const StoredNames& stored, TextGatherer& texts) {
  constexpr int32_t kNotSeen = -2;
  std::vector<int32_t> numbers(256, kNotSeen);
  return Numbers(rows, [&](size_t row) {
    const uint8_t value = stored.values[stored.same ? 0 : row];
    int32_t& number = numbers[value];
    if (number == kNotSeen) number = texts.Number(stored.text(value));  // "" has the number kNoText
    return number;
  });
}

}  // namespace

ArrowTextColumn TextColumn(const TableData& table, size_t column) {
  ArrowTextColumn made;
  TextGatherer texts;
  const auto stretches = table.Stretches();
  for (size_t at = 0; at < stretches.size(); ++at) {
    const auto [first, rows] = stretches[at];
    const StoredValues stored = table.Stored(at, column);
    if (const auto* pooled = std::get_if<StoredTexts>(&stored))
      made.stretches.push_back(Numbers(rows, *pooled, texts));
    else if (const auto* names = std::get_if<StoredNames>(&stored))
      made.stretches.push_back(Numbers(rows, *names, texts));
    else
      made.stretches.push_back(Numbers(rows, [&, first = first](size_t row) {
        return texts.Number(table.At(first + row, column).Text().value_or(""));
      }));
  }
  made.texts = texts.Finish();
  return made;
}

ArrowValues NumberColumn(const std::shared_ptr<const TableData>& table, size_t stretch, size_t column) {
  const auto [first, rows] = table->Stretches()[stretch];
  if (auto made = std::visit(NumbersOf{rows, table}, table->Stored(stretch, column))) return *std::move(made);
  if (table->columns[column].type == ColumnType::kInt)
    return Computed<int64_t>(
        rows, [&, first = first](size_t row) { return table->At(first + row, column).Int().value_or(kAbsent); });
  return Computed<double>(rows, [&, first = first](size_t row) {
    return table->At(first + row, column).Real().value_or(std::numeric_limits<double>::quiet_NaN());
  });
}

}  // namespace gapless::internal
