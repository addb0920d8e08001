// SPDX-License-Identifier: Apache-2.0
#include "diagnose/memory_savings.h"

#include "base/strings.h"

namespace gapless::internal {

std::optional<size_t> FindSaving(const MemorySavingsRows& savings, int64_t trace, int64_t device,
                                 std::string_view change) {
  for (size_t row = 0; row < savings.rows(); ++row)
    if (savings.Int(row, "trace") == trace && savings.Int(row, "device") == device &&
        savings.Text(row, "change") == change)
      return row;
  return std::nullopt;
}

std::optional<size_t> LargestSaving(const MemorySavingsRows& savings, std::string_view change) {
  std::optional<size_t> largest;
  for (size_t row = 0; row < savings.rows(); ++row)
    if (savings.Text(row, "change") == change &&
        (!largest || savings.Int(row, "freed_bytes") > savings.Int(*largest, "freed_bytes")))
      largest = row;
  return largest;
}

std::string SavingText(const MemorySavingsRows& savings, size_t row) {
  const bool at_most = savings.Text(row, "bound") == "most";
  return StrCat("frees ", at_most ? "at most " : "about ", FormatBytes(savings.Int(row, "freed_bytes")), " of the ",
                FormatBytes(savings.Int(row, "peak_bytes")),
                savings.Text(row, "change") == "allocator" ? " held at the peak" : " at the peak");
}

std::string SavingRemark(const MemorySavingsRows& savings, std::optional<size_t> row) {
  return row ? StrCat("; it ", SavingText(savings, *row)) : "";
}

std::string ModulesText(const MemorySavingsRows& savings, size_t row) {
  if (savings.IsNull(row, "modules")) return "";
  return StrCat(", if ", FormatCounted(savings.Int(row, "modules"), "call of a module is", "calls of modules are"),
                " checkpointed");
}

Evidence CheckpointEvidence(const MemorySavingsRows& savings, size_t row) {
  return {.text = StrCat("computing activations again ", SavingText(savings, row), ModulesText(savings, row)),
          .value = static_cast<double>(savings.Int(row, "freed_bytes")),
          .unit = "bytes",
          .table = "memory_savings",
          .source = std::string(savings.Text(row, "source_line"))};
}

}  // namespace gapless::internal
