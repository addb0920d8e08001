// SPDX-License-Identifier: Apache-2.0
// Writes and reads the texts of process groups.
#include "trace/process_groups.h"

#include <charconv>
#include <optional>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr size_t kMostRanks = 1'000'000;

std::optional<int64_t> WholeNumber(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// Adds the ranks of "3", "8-15" or "0-248/8". Returns false if it is none of these.
bool AddStretch(std::string_view text, std::vector<int64_t>& ranks) {
  const size_t dash = text.find('-');
  if (dash == text.npos) {
    const auto one = WholeNumber(text);
    if (one) ranks.push_back(*one);
    return one.has_value();
  }
  const size_t slash = text.find('/', dash);
  const auto first = WholeNumber(text.substr(0, dash));
  const auto last = WholeNumber(text.substr(dash + 1, slash == text.npos ? text.npos : slash - dash - 1));
  const auto step = slash == text.npos ? std::optional<int64_t>(1) : WholeNumber(text.substr(slash + 1));
  if (!first || !last || !step || *step < 1 || *last < *first) return false;
  if (static_cast<uint64_t>((*last - *first) / *step) >= kMostRanks - ranks.size()) return false;
  for (int64_t rank = *first; rank <= *last; rank += *step) ranks.push_back(rank);
  return true;
}

}  // namespace

std::string ProcessGroupText(std::string_view description, std::span<const int64_t> ranks) {
  return StrCat(description, ": ", RankStretches(ranks));
}

std::vector<ProcessGroup> ProcessGroupsOf(const Trace& trace) {
  std::vector<ProcessGroup> groups;
  for (size_t row = 0; row < trace.environment.size(); ++row) {
    const std::string_view key = trace.Text(trace.environment.key[row]);
    const std::string_view value = trace.Text(trace.environment.value[row]);
    const size_t colon = value.rfind(": ");
    if (!key.starts_with(kProcessGroupKey) || colon == value.npos) continue;
    groups.push_back({.name = std::string(key.substr(kProcessGroupKey.size())),
                      .description = std::string(value.substr(0, colon)),
                      .ranks = RanksInText(value.substr(colon + 2))});
  }
  return groups;
}

std::string RankStretches(std::span<const int64_t> ranks) {
  std::string text;
  for (size_t first = 0; first < ranks.size();) {
    size_t last = first;
    const int64_t step = first + 1 < ranks.size() ? ranks[first + 1] - ranks[first] : 0;
    while (step > 0 && last + 1 < ranks.size() && ranks[last + 1] - ranks[last] == step) ++last;
    if (last - first < 2 && step != 1) last = first;  // two ranks are no stretch, unless they are neighbours
    if (!text.empty()) text += ',';
    text += StrCat(ranks[first]);
    if (last > first) text += StrCat('-', ranks[last]);
    if (last > first && step > 1) text += StrCat('/', step);
    first = last + 1;
  }
  return text;
}

std::vector<int64_t> RanksInText(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::vector<int64_t> ranks;
  if (text.empty()) return ranks;
  for (const std::string_view part : Split(text, ','))
    if (!AddStretch(part, ranks) || ranks.size() > kMostRanks) return {};
  return ranks;
}

}  // namespace gapless::internal
