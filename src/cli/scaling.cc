// SPDX-License-Identifier: Apache-2.0
// Parses the numbers of ranks.
#include "cli/scaling.h"

#include <algorithm>
#include <charconv>

#include "base/redact.h"
#include "base/strings.h"
#include "proof/scaling.h"

namespace gapless::internal {

namespace {

constexpr int kMaxRanks = 4096;

}  // namespace

Result<void> NeedsRanks(const RunRequest& request) {
  if (CanHaveRanks(request.command)) return {};
  return Fail(ErrorCode::kUsage, "cannot start several ranks: the number of ranks has no place in the command",
              CommandText(request.command),
              "write {n} for the number of ranks: torchrun --nproc-per-node {n} train.py");
}

Result<std::vector<int>> ReadRankCounts(const OptionSpec& option, std::string_view text) {
  std::vector<int> counts;
  for (const std::string_view word : Split(text, ',')) {
    if (word.empty()) continue;
    int count = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
    if (error != std::errc() || end != word.data() + word.size() || count < 1 || count > kMaxRanks)
      return Fail(ErrorCode::kUsage, StrCat("--", option.name, " takes numbers of ranks, such as 1,2,4"),
                  std::string(word));
    counts.push_back(count);
  }
  return counts;
}

// The first one is what all others are compared with.
Result<std::vector<int>> RanksFrom(std::vector<int> counts, const RunRequest& request) {
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  if (!counts.empty()) GAPLESS_TRY(NeedsRanks(request));
  return counts;
}

}  // namespace gapless::internal
