// SPDX-License-Identifier: Apache-2.0
#include "predict/freed_memory.h"

#include "base/strings.h"
#include "diagnose/memory_savings.h"

namespace gapless::internal {

std::vector<FreedMemory> FreedBy(Tables& tables, const std::vector<WhatIfItem>& items) {
  const auto savings = tables.Get<MemorySavingsRows>();
  std::vector<FreedMemory> all;
  for (const WhatIfItem& item : items) {
    const auto row = LargestSaving(savings, item.name);
    if (!row) continue;
    FreedMemory freed{.what = item.ToString(),
                      .freed_bytes = savings.Int(*row, "freed_bytes"),
                      .peak_bytes = savings.Int(*row, "peak_bytes"),
                      .at_most = savings.Text(*row, "bound") == "most",
                      .source_line = std::string(savings.Text(*row, "source_line")),
                      .text = StrCat(SavingText(savings, *row), ModulesText(savings, *row))};
    if (!savings.IsNull(*row, "modules")) freed.modules = savings.Int(*row, "modules");
    if (!freed.source_line.empty()) freed.text += StrCat(" (most in ", freed.source_line, ")");
    all.push_back(std::move(freed));
  }
  return all;
}

}  // namespace gapless::internal
