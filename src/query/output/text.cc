// SPDX-License-Identifier: Apache-2.0
// Writes rows as aligned text.
//
// The widths are those of the first rows (kMeasured of them), which are held until then; later rows are cut to fit.
// If the row does not fit the terminal, the widest text columns are narrowed first, down to kNarrowest; numbers are
// never cut. A column is numeric if none of the measured rows has a text in it. Control characters are removed, because
// texts come from recordings.
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "query/sinks.h"

namespace gapless::internal {
namespace {

// Rows that are held and measured; then the columns below which no text column is narrowed.
constexpr size_t kMeasured = 1000;
constexpr int kNarrowest = 8;
constexpr int kSpace = 2;  // between columns

// Writes six significant digits, which are enough to read; --json and --csv give all of them. Whole reals keep ".0", so
// that they differ from integers.
std::string ShortReal(double value) {
  if (!std::isfinite(value)) return value > 0 ? "inf" : "-inf";
  const double magnitude = std::abs(value);
  if (magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e15)) return StrCat(value);
  const int whole = magnitude < 1 ? 0 : static_cast<int>(std::floor(std::log10(magnitude))) + 1;
  std::string text = FormatNumber(value, std::clamp(6 - whole, 0, 9));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text += '0';
  return text;
}

class TextSink : public PrintingSink {
 public:
  TextSink(BlockWriter write, const TextTableOptions& options) : write_(std::move(write)), options_(options) {}

  void Columns(std::span<const std::string> names) override {
    for (const std::string& name : names) header_.push_back(Printable(name));
    widths_.assign(names.size(), 0);
    numeric_.assign(names.size(), true);
  }

  bool Row(std::span<const SqlValue> cells) override {
    std::vector<std::string> row;
    for (size_t i = 0; i < cells.size(); ++i) {
      row.push_back(Shown(cells[i]));
      if (!fitted_ && cells[i].kind == SqlValue::Kind::kText) numeric_[i] = false;
    }
    if (fitted_) {
      AppendRow(row);
      return block_.size() < kOutputBlock || Flush();
    }
    held_.push_back(std::move(row));
    return held_.size() < kMeasured || Fit();
  }

  bool Finish() override { return (fitted_ || Fit()) && Flush(); }

 private:
  std::string Shown(const SqlValue& value) const {
    switch (value.kind) {
      case SqlValue::Kind::kNull: return options_.utf8 ? "–" : "";
      case SqlValue::Kind::kInt: return StrCat(value.integer);
      case SqlValue::Kind::kReal: return ShortReal(value.real);
      case SqlValue::Kind::kText: return Printable(value.text);
    }
    return {};
  }

  // Sets the widths, then prints the header and the rows held so far.
  bool Fit() {
    for (size_t i = 0; i < header_.size(); ++i) {
      widths_[i] = DisplayWidth(header_[i]);
      for (const auto& row : held_) widths_[i] = std::max(widths_[i], DisplayWidth(row[i]));
    }
    while (options_.width > 0 && RowWidth() > options_.width && NarrowWidest(RowWidth() - options_.width)) {
    }
    fitted_ = true;
    AppendRow(header_);
    for (const auto& row : held_) AppendRow(row);
    held_.clear();
    return Flush();
  }

  int RowWidth() const {
    int width = -kSpace;
    for (const int column : widths_) width += column + kSpace;
    return width;
  }

  // Takes up to `excess` columns from the widest text column, but not more than makes it as wide as the next one.
  bool NarrowWidest(int excess) {
    size_t widest = widths_.size();
    int next = kNarrowest;
    for (size_t i = 0; i < widths_.size(); ++i) {
      if (numeric_[i] || widths_[i] <= kNarrowest) continue;
      if (widest == widths_.size() || widths_[i] > widths_[widest]) {
        if (widest < widths_.size()) next = std::max(next, widths_[widest]);
        widest = i;
      } else {
        next = std::max(next, widths_[i]);
      }
    }
    if (widest == widths_.size()) return false;
    widths_[widest] -= std::min(excess, std::max(1, widths_[widest] - next));
    return true;
  }

  // Cuts a text to the width and marks the cut, in ASCII with "~" in place of "…".
  std::string CutTo(const std::string& text, int width) const {
    if (DisplayWidth(text) <= width) return text;
    if (options_.utf8) return Ellipsize(text, width);
    std::string cut = Ellipsize(text, width);
    cut.erase(cut.size() - std::string_view("…").size());
    return cut + "~";
  }

  // Numbers end at the same column, texts start at it; the last text is not padded, so that lines have no spaces at the
  // end.
  void AppendRow(const std::vector<std::string>& row) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string cell = numeric_[i] ? row[i] : CutTo(row[i], widths_[i]);
      const auto pad = static_cast<size_t>(std::max(0, widths_[i] - DisplayWidth(cell)));
      if (i > 0) block_.append(kSpace, ' ');
      if (numeric_[i]) block_.append(pad, ' ');
      block_ += cell;
      if (!numeric_[i] && i + 1 < row.size()) block_.append(pad, ' ');
    }
    block_ += '\n';
  }

  bool Flush() {
    const bool open = write_(block_);
    block_.clear();
    return open;
  }

  BlockWriter write_;
  TextTableOptions options_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> held_;
  std::vector<int> widths_;
  std::vector<bool> numeric_;
  bool fitted_ = false;
  std::string block_;
};

}  // namespace

std::unique_ptr<PrintingSink> MakeTextSink(BlockWriter write, const TextTableOptions& options) {
  return std::make_unique<TextSink>(std::move(write), options);
}

}  // namespace gapless::internal
