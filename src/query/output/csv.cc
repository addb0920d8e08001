// SPDX-License-Identifier: Apache-2.0
// Writes rows as CSV (RFC 4180): CRLF at line ends, quotes only where a field needs them. NULL is an empty field and an
// empty text is "", so that a reader can distinguish the two. Reals have as many digits as read back equal.
//
// A spreadsheet runs a field such as =HYPERLINK(…) as a formula. Programs that read CSV need the recorded name, so
// texts change only if that is asked for; otherwise they are counted, for a warning.
#include <charconv>

#include "base/strings.h"
#include "query/sinks.h"

namespace gapless::internal {
namespace {

// Returns true if a spreadsheet would run the text as a formula: it begins like one, and is no number.
bool IsFormula(std::string_view text) {
  if (text.empty() || std::string_view("=+-@\t\r").find(text.front()) == std::string_view::npos) return false;
  double number = 0;
  const char* const end = text.data() + text.size();
  const char* const begin = text.data() + (text.front() == '+' ? 1 : 0);
  return std::from_chars(begin, end, number).ptr != end || begin == end;
}

class CsvSink : public PrintingSink {
 public:
  CsvSink(BlockWriter write, const CsvOptions& options) : write_(std::move(write)), options_(options) {}

  void Columns(std::span<const std::string> names) override {
    for (size_t i = 0; i < names.size(); ++i) {
      if (i > 0) block_ += ',';
      // The statement gives the names, not the recording.
      options_.printable ? AppendField(Printable(names[i])) : AppendField(names[i]);
    }
    block_ += "\r\n";
  }

  bool Row(std::span<const SqlValue> cells) override {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) block_ += ',';
      AppendValue(cells[i]);
    }
    block_ += "\r\n";
    return block_.size() < kOutputBlock || Finish();
  }

  // Writes the last block; CSV needs no end. Returns false when nobody reads any more, which also ends the query.
  bool Finish() override {
    const bool open = write_(block_);
    block_.clear();
    return open;
  }

 private:
  void AppendValue(const SqlValue& value) {
    switch (value.kind) {
      case SqlValue::Kind::kNull: return;
      case SqlValue::Kind::kInt: block_ += StrCat(value.integer); return;
      case SqlValue::Kind::kReal: block_ += StrCat(value.real); return;
      case SqlValue::Kind::kText: return AppendText(value.text);
    }
  }

  void AppendText(std::string_view text) {
    if (!IsFormula(text)) return options_.printable ? AppendField(Printable(text)) : AppendField(text);
    if (options_.formulas != nullptr) ++*options_.formulas;
    const std::string quoted = StrCat(options_.quote_formulas ? "'" : "", text);
    AppendField(options_.printable ? Printable(quoted) : quoted);
  }

  void AppendField(std::string_view text) {
    if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) {
      block_ += text;
      return;
    }
    block_ += '"';  // an empty text is quoted, so that it is not taken for NULL
    for (const char c : text) {
      if (c == '"') block_ += '"';
      block_ += c;
    }
    block_ += '"';
  }

  BlockWriter write_;
  CsvOptions options_;
  std::string block_;
};

}  // namespace

std::unique_ptr<PrintingSink> MakeCsvSink(BlockWriter write, const CsvOptions& options) {
  return std::make_unique<CsvSink>(std::move(write), options);
}

}  // namespace gapless::internal
