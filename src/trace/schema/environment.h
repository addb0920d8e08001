// SPDX-License-Identifier: Apache-2.0
// The recorder's facts about the process: versions, settings, host. Sorted by key.
#pragma once

#include "trace/column.h"
#include "trace/enums.h"
#include "trace/ids.h"

namespace gapless::internal {

struct EnvironmentTable {
  Column<StringId> key;
  Column<StringId> value;

  size_t size() const { return key.size(); }

  // Calls f(name, column) for every column, in the order of declaration.
  template <class Self, class F>
  static void Visit(Self& self, F&& f) {
    f("key", self.key);
    f("value", self.value);
  }
};

}  // namespace gapless::internal
