// SPDX-License-Identifier: Apache-2.0
#include "predict/open_findings.h"

#include <algorithm>
#include <utility>

namespace gapless::internal {
namespace {

// The one in the list that claims the time of `found` in more general terms; nullptr: none.
const Bottleneck* PlacedWhole(const Bottleneck& found, const std::vector<Bottleneck>& list) {
  const auto at = std::ranges::find_if(list, [&](const Bottleneck& bottleneck) {
    return !found.part_of.empty() && bottleneck.id == found.part_of && !bottleneck.apart;
  });
  return at == list.end() ? nullptr : &*at;
}

}  // namespace

const Option* OpenFinding::Asks(std::string_view name) const {
  const auto at = std::ranges::find_if(options, [&](const Option& option) { return option.item.name == name; });
  return at == options.end() ? nullptr : &*at;
}

void AdviseFirst(size_t recommendation, Bottleneck& found) {
  const auto first = found.recommendations.begin(), chosen = first + static_cast<std::ptrdiff_t>(recommendation);
  std::rotate(first, chosen, chosen + 1);
  constexpr std::string_view kOr = "or ";  // what was the second choice
  if (std::string& text = found.recommendations.front().text; text.starts_with(kOr)) text.erase(0, kOr.size());
}

void HangBelow(const std::string& head, size_t at, std::vector<OpenFinding>& open, std::vector<Bottleneck>& list) {
  Bottleneck& found = open[at].found;
  found.cured_by = head;
  found.gain.reset(), found.step_left = list.back().step_left;
  auto after = std::ranges::find(list, head, &Bottleneck::id);
  while (++after != list.end() && after->cured_by == head) {
  }
  list.insert(after, std::move(found));
  open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
}

void HangOthers(const std::string& head, std::string_view fix, std::vector<OpenFinding>& open,
                std::vector<Bottleneck>& list) {
  for (size_t i = 0; i < open.size();) {
    Bottleneck& found = open[i].found;
    const Option* const same = fix.empty() ? nullptr : open[i].Asks(fix);
    const Bottleneck* const whole = open[i].options.empty() ? PlacedWhole(found, list) : nullptr;
    if (same == nullptr && whole == nullptr) {
      ++i;
      continue;
    }
    if (same != nullptr) AdviseFirst(same->recommendation, found);
    HangBelow(same != nullptr ? head : whole->cured_by.empty() ? whole->id : whole->cured_by, i, open, list);
    i = 0;  // what is part of this one may be cured with it
  }
}

}  // namespace gapless::internal
