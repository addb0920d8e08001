// SPDX-License-Identifier: Apache-2.0
// The forms in which `gapless query` prints a result. Rows are written as they come; nothing is held but a block of
// output. The text form also holds the first rows, to fit its columns to them, and Arrow all, whose types it begins
// with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "query/database.h"

namespace gapless::internal {

// Takes a block of output; false when nobody reads any more.
using BlockWriter = std::function<bool(std::string_view)>;

// Bytes that a sink collects before it writes them.
inline constexpr size_t kOutputBlock = 1 << 16;

// A sink whose output must be completed once the query has succeeded.
class PrintingSink : public RowSink {
 public:
  // Writes what is left. False: nobody reads any more.
  virtual bool Finish() = 0;
};

struct TextTableOptions {
  int width = 0;     // width of the terminal: longer rows are cut; 0: no limit
  bool utf8 = true;  // "–" for NULL and "…" for a cut; else nothing and "~"
};

// Aligned columns, numbers to the right, one header line. NULL is "–". The first 1000 rows are held.
std::unique_ptr<PrintingSink> MakeTextSink(BlockWriter write, const TextTableOptions& options);
// An array of objects, one per line. 64-bit integers are integers; NULL is null.
std::unique_ptr<PrintingSink> MakeJsonSink(BlockWriter write);
struct CsvOptions {
  bool printable = false;       // without control characters, for a terminal
  bool quote_formulas = false;  // puts ' before texts that a spreadsheet takes for formulas
  int64_t* formulas = nullptr;  // is increased for each such text; null: not counted
};
// RFC 4180: a header line, CRLF, quotes where needed. NULL is the empty field. Texts are as recorded unless an option
// changes them.
std::unique_ptr<PrintingSink> MakeCsvSink(BlockWriter write, const CsvOptions& options = {});
// An Arrow IPC stream; a column as recorded has "unit" and "help" in the metadata of its field. All rows are held until
// Finish().
std::unique_ptr<PrintingSink> MakeArrowSink(BlockWriter write);

}  // namespace gapless::internal
