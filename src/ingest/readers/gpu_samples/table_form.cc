// SPDX-License-Identifier: Apache-2.0
// Splits lines, and recognises heads by the names of their columns.
#include "ingest/readers/gpu_samples/table_form.h"

#include <algorithm>

#include "base/csv.h"
#include "base/strings.h"
#include "ingest/readers/gpu_samples/columns.h"

namespace gapless::internal::gpu_samples {
namespace {

constexpr size_t kLongestHead = size_t{1} << 16;  // a line that is longer is no head

}  // namespace

std::vector<std::string> WordsOf(std::string_view line) {
  std::vector<std::string> words;
  for (const std::string_view part : Split(line, ' ')) {
    std::string_view word = part;
    while (!word.empty() && (word.back() == '\r' || word.back() == '\t')) word.remove_suffix(1);
    while (!word.empty() && (word.front() == '#' || word.front() == '\t')) word.remove_prefix(1);
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

std::vector<std::string> CellsOf(std::string_view line) {
  CsvReader csv(line);
  std::vector<std::string> cells;
  csv.Next(cells);
  return cells;
}

Form FormOf(std::string_view line) {
  if (const size_t hash = line.find('#'); hash != line.npos && hash < 4) {
    const std::vector<std::string> words = WordsOf(line);
    if (words.empty()) return Form::kNone;
    if (words[0] == "Entity") return Form::kDcgm;
    const bool has_device = words[0] == "gpu" || (words.size() > 2 && words[2] == "gpu");
    if (!has_device || words.size() < 3) return Form::kNone;
    return std::ranges::find(words, "pid") == words.end() ? Form::kDmon : Form::kPmon;
  }
  if (line.size() > kLongestHead) return Form::kNone;
  const std::vector<std::string> cells = CellsOf(line);
  size_t known = 0, values = 0, certain = 0;
  for (const std::string& cell : cells) {
    const Column column = QueryColumn(cell);
    const bool is_value = column.kind == Column::Kind::kValue || column.kind == Column::Kind::kThrottleMask ||
                          column.kind == Column::Kind::kEnergy;
    known += column.kind != Column::Kind::kIgnored, values += is_value, certain += is_value && column.is_certain;
  }
  if (cells.size() == 1) return certain == 1 && cells[0].find(" [") != std::string::npos ? Form::kQuery : Form::kNone;
  return known >= 2 && values >= 1 && certain >= 1 ? Form::kQuery : Form::kNone;
}

}  // namespace gapless::internal::gpu_samples
