// SPDX-License-Identifier: Apache-2.0
// Helps readers of texts that are held in memory as a whole, and of tables that programs print.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/reader.h"

namespace gapless::internal {

inline constexpr size_t kMaxWholeText = size_t{1} << 28;  // bytes

// Returns the text of a source, at most kMaxWholeText of it. Notes say where reading stopped, and what is lost when the
// text is longer: "samples behind that". An error: it cannot be opened, or was interrupted.
Result<std::string> ReadWholeText(Source& source, TraceBuilder& builder, const ReadContext& context,
                                  std::string_view lost);

// A part of a line: where it begins, and its length.
struct TextSpan {
  size_t from = 0, size = 0;
};
// The runs of dashes from `first` on, if nothing else but blanks stands there; empty: something else does.
std::vector<TextSpan> DashesIn(std::string_view line, size_t first = 0);

}  // namespace gapless::internal
