// SPDX-License-Identifier: Apache-2.0
// Puts the rows of table parallel_layout into words.
#include "report/layout_text.h"

#include <string_view>
#include <vector>

#include "analyses/rows/parallel_layout.h"
#include "base/strings.h"

namespace gapless::internal {

std::string LayoutText(Tables& tables) {
  const auto rows = tables.Get<ParallelLayoutRows>();
  std::vector<std::string> dimensions;
  std::string experts;
  size_t named = 0, inferred = 0;
  for (const std::string_view wanted : {"data", "pipeline", "tensor", "context", "sequence", "expert"})
    for (size_t row = 0; row < rows.rows(); ++row) {
      if (rows.Text(row, "dimension") != wanted) continue;
      ++(rows.Text(row, "known") == "named" ? named : inferred);
      if (wanted == "expert")
        experts = StrCat(", experts over ", rows.Int(row, "size"));
      else
        dimensions.push_back(StrCat(rows.Int(row, "size"), ' ', wanted));
    }
  if (named + inferred < 2 || dimensions.empty()) return {};
  const std::string_view how = inferred == 0 ? "named by the program"
                               : named == 0  ? "by its traffic"
                                             : "in part named by the program";
  return StrCat("layout ", Join(dimensions, " × "), experts, " (", how, ')');
}

}  // namespace gapless::internal
