// SPDX-License-Identifier: Apache-2.0
// Rows by the names of their sections and columns, in few bytes: the content of a summary (trace/summary.h).
//
// A section is a table: a name, a number of rows, and columns of integers, reals or texts. Whoever reads asks by name,
// so sections and columns may be added in any version: what an older file lacks is absent, and what a newer one has
// besides is not asked for. Texts stand once for all sections.
//
// In bytes, numbers as varints (base/wire_format.h): the texts (count, lengths, bytes), then the number of sections,
// each with its name (a text), rows and columns. A column has its name, type, form and length in bytes, so that it can
// be passed over. Forms: nothing is present; one value for all rows; a value for each row. Integers are differences
// from 0, from the row before or from the number of their row, whichever is shortest. Where only some are present a bit
// for each row comes first.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gapless/column.h"
#include "trace/ids.h"

namespace gapless::internal {

// Collects sections, in the order in which they are begun, and writes them.
class SectionWriter {
 public:
  SectionWriter() { TextId({}); }  // the empty text comes first
  // The columns that follow have as many values as the section has rows.
  void Begin(std::string_view section, size_t rows);
  void Ints(std::string_view column, std::span<const int64_t> values);            // kAbsent: absent
  void Reals(std::string_view column, std::span<const double> values);            // NaN: absent
  void Texts(std::string_view column, std::span<const std::string_view> values);  // empty: absent
  // One value each, of a section with one row.
  void Int(std::string_view column, int64_t value) { Ints(column, {&value, 1}); }
  void Text(std::string_view column, std::string_view value) { Texts(column, {&value, 1}); }

  std::string Finish() &&;

 private:
  uint64_t TextId(std::string_view text);
  void Column(std::string_view column, ColumnType type, std::string_view present, uint8_t form, std::string_view data);

  std::map<std::string, uint64_t, std::less<>> ids_{};
  std::string texts_{}, lengths_{};
  struct Section {
    uint64_t name = 0, rows = 0, columns = 0;
    std::string bytes{};
  };
  std::vector<Section> sections_{};
};

// Reads what SectionWriter wrote, from bytes that somebody may have damaged or made: what does not fit is an error when
// opening, or absent. Views of texts live as long as the reader's bytes.
class SectionReader {
 public:
  class Section;
  // Takes the bytes over. An error: they are no sections.
  static Result<SectionReader> Open(std::shared_ptr<const std::string> bytes);

  // Returns the section, or null.
  const Section* Find(std::string_view name) const;
  const std::vector<Section>& all() const { return sections_; }
  // Every text of all sections, each once, the empty one first.
  const std::vector<std::string_view>& texts() const { return *texts_; }
  const std::shared_ptr<const std::string>& bytes() const { return bytes_; }

  class Section {
   public:
    std::string_view name() const { return name_; }
    size_t rows() const { return rows_; }
    // The values of a column, one for each row; all absent where there is no such column of this type.
    std::vector<int64_t> Ints(std::string_view column) const;
    std::vector<double> Reals(std::string_view column) const;
    std::vector<std::string_view> Texts(std::string_view column) const;
    bool Has(std::string_view column) const { return Find(column) != nullptr; }
    // The same as places in texts() of the reader; 0, the empty text, where absent.
    std::vector<uint32_t> TextIds(std::string_view column) const;
    // The value of a section with one row.
    int64_t Int(std::string_view column) const;
    std::string_view Text(std::string_view column) const;

   private:
    friend class SectionReader;
    struct Column {
      std::string_view name{};
      ColumnType type{};
      uint8_t form = 0;
      std::string_view data{};
    };
    const Column* Find(std::string_view column) const;
    // Calls f(row, bytes that begin with its value) for each row that is present, until f returns false.
    template <class F>
    void EachPresent(const Column& column, F&& f) const;

    const std::vector<std::string_view>* texts_ = nullptr;
    std::string_view name_{};
    size_t rows_ = 0;
    std::vector<Column> columns_{};
  };

 private:
  std::shared_ptr<const std::string> bytes_{};
  std::unique_ptr<std::vector<std::string_view>> texts_{};  // its address is in the sections
  std::vector<Section> sections_{};
};

}  // namespace gapless::internal
