// SPDX-License-Identifier: Apache-2.0
// Writes rows as an Arrow IPC stream, in batches of 65,536 rows.
//
// A stream begins with the types of its columns, and SQLite decides the type of each cell. So the whole result is held,
// column by column: nine bytes a cell, and each distinct text of a column once. A column of whole numbers and reals is
// one of reals, unless a number would lose digits by that: then, and where texts are among them, all are texts, written
// as CSV has them. A column without any value has the type that it has in its table, or is of whole numbers.
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "base/strings.h"
#include "query/output/arrow/messages.h"
#include "query/sinks.h"
#include "trace/string_pool.h"

namespace gapless::internal {
namespace {

constexpr size_t kRowsOfBatch = 1 << 16;
constexpr int64_t kMaxExact = int64_t{1} << 53;  // reals hold every whole number up to here

// Bytes that are no UTF-8 become U+FFFD, as in JSON.
std::string ValidUtf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    out += length == 0 ? "\xEF\xBF\xBD" : text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

template <class T>
std::string_view BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// The cells of one column: of each its kind, and its value in eight bytes, which for a text is its number in the pool.
class HeldColumn {
 public:
  void Add(const SqlValue& value) {
    uint64_t bits = 0;
    switch (value.kind) {
      case SqlValue::Kind::kNull: break;
      case SqlValue::Kind::kInt:
        std::memcpy(&bits, &value.integer, sizeof(bits));
        has_long_ |= value.integer > kMaxExact || value.integer < -kMaxExact;
        break;
      case SqlValue::Kind::kReal: std::memcpy(&bits, &value.real, sizeof(bits)); break;
      case SqlValue::Kind::kText: bits = Number(value.text); break;
    }
    has_[static_cast<size_t>(value.kind)] = true;
    kinds_.push_back(value.kind);
    values_.push_back(bits);
  }

  // Decides the type, once all rows are here. `recorded`: that of the column of a table which this is.
  ArrowField Describe(std::string name, const ColumnSpec* recorded) {
    const auto has = [this](SqlValue::Kind kind) { return has_[static_cast<size_t>(kind)]; };
    const bool reals = has(SqlValue::Kind::kReal);
    if (has(SqlValue::Kind::kText) || (reals && has_long_))
      type_ = ColumnType::kText;
    else if (reals)
      type_ = ColumnType::kReal;
    else if (recorded != nullptr && (recorded->type == ColumnType::kReal ? !has_long_ : !has(SqlValue::Kind::kInt)))
      type_ = recorded->type;
    if (type_ == ColumnType::kText) MakeTexts();
    ArrowField field{.name = std::move(name), .type = type_, .long_texts = IsLong()};
    if (recorded != nullptr) field.unit = recorded->unit, field.help = recorded->help;
    return field;
  }

  bool is_text() const { return type_ == ColumnType::kText; }

  std::string Dictionary(int64_t id) const { return IsLong() ? Dictionary<int64_t>(id) : Dictionary<int32_t>(id); }

  // Fills `node` with rows from `first` on, whose memory is in this object until the next call.
  void Batch(size_t first, size_t rows, ArrowNode& node) {
    present_.assign((rows + 7) / 8, 0);
    eight_.clear();
    four_.clear();
    node.rows = static_cast<int64_t>(rows);
    node.absent = 0;
    for (size_t i = 0; i < rows; ++i) {
      const bool absent = kinds_[first + i] == SqlValue::Kind::kNull;
      node.absent += absent ? 1 : 0;
      if (!absent) present_[i / 8] |= static_cast<uint8_t>(1U << (i % 8));
      if (is_text())
        four_.push_back(static_cast<uint32_t>(values_[first + i]));
      else
        eight_.push_back(BitsOf(first + i));
    }
    node.buffers = {node.absent == 0 ? std::string_view() : BytesOf(present_),
                    is_text() ? BytesOf(four_) : BytesOf(eight_)};
  }

 private:
  uint64_t Number(std::string_view text) {
    bool valid = true;
    for (std::string_view rest = text; valid && !rest.empty();) {
      const size_t length = Utf8SequenceLength(rest);
      valid = length > 0;
      rest.remove_prefix(length);
    }
    return static_cast<uint32_t>(valid ? texts_.Intern(text) : texts_.Intern(ValidUtf8(text)));
  }

  // The value of a number in the type of its column.
  uint64_t BitsOf(size_t row) const {
    if (type_ != ColumnType::kReal || kinds_[row] != SqlValue::Kind::kInt) return values_[row];
    const auto real = static_cast<double>(static_cast<int64_t>(values_[row]));
    uint64_t bits = 0;
    std::memcpy(&bits, &real, sizeof(bits));
    return bits;
  }

  // Numbers become texts.
  void MakeTexts() {
    for (size_t row = 0; row < kinds_.size(); ++row) {
      if (kinds_[row] == SqlValue::Kind::kInt) {
        values_[row] = Number(StrCat(static_cast<int64_t>(values_[row])));
      } else if (kinds_[row] == SqlValue::Kind::kReal) {
        double real = 0;
        std::memcpy(&real, &values_[row], sizeof(real));
        values_[row] = Number(StrCat(real));
      }
    }
    for (size_t id = 0; id < texts_.size(); ++id) text_bytes_ += texts_[static_cast<StringId>(id)].size();
  }

  bool IsLong() const { return text_bytes_ > static_cast<size_t>(std::numeric_limits<int32_t>::max()); }

  template <class Offset>
  std::string Dictionary(int64_t id) const {
    std::vector<Offset> offsets{0};
    std::string bytes;
    bytes.reserve(text_bytes_);
    for (size_t text = 0; text < texts_.size(); ++text) {
      bytes += texts_[static_cast<StringId>(text)];
      offsets.push_back(static_cast<Offset>(bytes.size()));
    }
    return ArrowDictionaryMessage(
        id, {.rows = static_cast<int64_t>(texts_.size()), .buffers = {{}, BytesOf(offsets), bytes}});
  }

  std::vector<SqlValue::Kind> kinds_;
  std::vector<uint64_t> values_;
  StringPool texts_;  // its first is the empty one
  size_t text_bytes_ = 0;
  bool has_[4] = {}, has_long_ = false;
  ColumnType type_ = ColumnType::kInt;
  std::vector<uint8_t> present_;  // of the batch that is written
  std::vector<uint64_t> eight_;
  std::vector<uint32_t> four_;
};

class ArrowSink : public PrintingSink {
 public:
  explicit ArrowSink(BlockWriter write) : write_(std::move(write)) {}

  void Columns(std::span<const std::string> names) override {
    names_.assign(names.begin(), names.end());
    columns_.resize(names.size());
  }
  void Origins(std::span<const std::optional<ColumnSpec>> origins) override {
    origins_.assign(origins.begin(), origins.end());
  }

  bool Row(std::span<const SqlValue> cells) override {
    for (size_t i = 0; i < cells.size(); ++i) columns_[i].Add(cells[i]);
    ++rows_;
    return true;
  }

  bool Finish() override {
    std::vector<ArrowField> fields;
    for (size_t i = 0; i < columns_.size(); ++i)
      fields.push_back(columns_[i].Describe(names_[i], i < origins_.size() && origins_[i] ? &*origins_[i] : nullptr));
    if (!write_(ArrowSchemaMessage(fields))) return false;
    for (size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].is_text() && !write_(columns_[i].Dictionary(static_cast<int64_t>(i)))) return false;
    std::vector<ArrowNode> nodes(columns_.size());
    for (size_t first = 0; first < rows_; first += kRowsOfBatch) {
      const size_t rows = std::min(kRowsOfBatch, rows_ - first);
      for (size_t i = 0; i < columns_.size(); ++i) columns_[i].Batch(first, rows, nodes[i]);
      if (!write_(ArrowBatchMessage(static_cast<int64_t>(rows), nodes))) return false;
    }
    return write_(ArrowEnd());
  }

 private:
  BlockWriter write_;
  std::vector<std::string> names_;
  std::vector<std::optional<ColumnSpec>> origins_;
  std::vector<HeldColumn> columns_;
  size_t rows_ = 0;
};

}  // namespace

std::unique_ptr<PrintingSink> MakeArrowSink(BlockWriter write) { return std::make_unique<ArrowSink>(std::move(write)); }

}  // namespace gapless::internal
