// SPDX-License-Identifier: Apache-2.0
#include "ingest/whole_text.h"

#include <algorithm>

#include "base/strings.h"

namespace gapless::internal {

Result<std::string> ReadWholeText(Source& source, TraceBuilder& builder, const ReadContext& context,
                                  std::string_view lost) {
  GAPLESS_ASSIGN(auto stream, source.Open());
  std::string text;
  constexpr size_t kPiece = size_t{1} << 18;
  for (bool more = true; more && text.size() < kMaxWholeText;) {
    if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
    const size_t before = text.size();
    text.resize(before + kPiece);
    auto got = stream->Read(text.data() + before, kPiece);
    if (!got)
      builder.Count("damaged_input", Severity::kError, 1, static_cast<int64_t>(before),
                    StrCat("reading stopped: ", got.error().message));
    more = got && *got > 0;
    text.resize(before + (got ? *got : 0));
  }
  if (text.size() >= kMaxWholeText)
    builder.Count("overlong_input", Severity::kError, 1, static_cast<int64_t>(text.size()),
                  StrCat("the file is longer than 256 MiB: ", lost, " is not read"));
  return text;
}

std::vector<TextSpan> DashesIn(std::string_view line, size_t first) {
  std::vector<TextSpan> runs;
  for (size_t at = first; at < line.size();) {
    if (line[at] == ' ' || line[at] == '\t' || line[at] == '\r') {
      ++at;
      continue;
    }
    const size_t end = std::min(line.find_first_not_of('-', at), line.size());
    if (end == at) return {};
    runs.push_back({at, end - at});
    at = end;
  }
  return runs;
}

}  // namespace gapless::internal
