// SPDX-License-Identifier: Apache-2.0
// Inserts a row into the finished table of notes. Columns are immutable, so each is copied; the table has a row
// per kind of note.
#include "trace/reading_note.h"

#include <algorithm>
#include <vector>

namespace gapless::internal {
namespace {

template <class T>
void InsertAt(Column<T>& column, size_t row, T value) {
  std::vector<T> values(column.begin(), column.end());
  values.insert(values.begin() + static_cast<ptrdiff_t>(row), value);
  column = std::move(values);
}

}  // namespace

void AddReadingNote(Trace& trace, std::string_view kind, Severity severity, int64_t count, std::string_view text) {
  ReadStatsTable& stats = trace.read_stats;
  size_t row = 0;
  while (row < stats.size() && trace.Text(stats.kind[row]) < kind) ++row;
  InsertAt(stats.kind, row, trace.strings.Intern(kind));
  InsertAt(stats.severity, row, severity);
  InsertAt(stats.count, row, count);
  InsertAt(stats.first_offset, row, kAbsent);
  InsertAt(stats.text, row, trace.strings.Intern(text));
}

}  // namespace gapless::internal
