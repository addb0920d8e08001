// SPDX-License-Identifier: Apache-2.0
// The findings of reading: one row per kind of thing that was odd, lost or wrong. Sorted by kind.
#pragma once

#include "trace/column.h"
#include "trace/enums.h"
#include "trace/ids.h"

namespace gapless::internal {

struct ReadStatsTable {
  Column<StringId> kind;
  Column<Severity> severity;
  Column<int64_t> count;
  Column<int64_t> first_offset;  // byte offset in the (decompressed) input; kAbsent: none
  Column<StringId> text;         // one sentence for people

  size_t size() const { return kind.size(); }

  // Calls f(name, column) for every column, in the order of declaration.
  template <class Self, class F>
  static void Visit(Self& self, F&& f) {
    f("kind", self.kind);
    f("severity", self.severity);
    f("count", self.count);
    f("first_offset", self.first_offset);
    f("text", self.text);
  }
};

}  // namespace gapless::internal
