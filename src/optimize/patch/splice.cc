// SPDX-License-Identifier: Apache-2.0
// Orders splices and puts them into a text.
#include "optimize/patch/splice.h"

#include <algorithm>

namespace gapless::internal {

// Behind one another at the same place: what stands behind inner statements first, what stands before outer ones first.
bool Precedes(const Splice& a, const Splice& b) {
  if (a.begin != b.begin) return a.begin < b.begin;
  if (a.place != b.place) return a.place < b.place;
  if (a.place == SplicePlace::kAfter) return a.owner_begin > b.owner_begin;
  if (a.place == SplicePlace::kBefore) return a.owner_end > b.owner_end;
  return a.end < b.end;
}

bool Overlap(std::vector<Splice> splices) {
  std::ranges::stable_sort(splices, Precedes);
  size_t at = 0;
  for (const Splice& splice : splices) {
    if (splice.begin < at) return true;
    at = std::max(at, splice.end);
  }
  return false;
}

void Indent(Splice& splice, std::string_view unit) {
  std::string out;
  bool at_start = splice.whole_lines();
  for (const char c : splice.text) {
    if (at_start && c != '\n' && c != '\r') out += unit;
    at_start = c == '\n';
    out += c;
  }
  splice.text = std::move(out);
}

std::string Spliced(std::string_view text, const std::vector<Splice>& splices) {
  std::string out;
  size_t at = 0;
  for (const Splice& splice : splices) {
    if (splice.begin < at) continue;  // indentation within what is replaced
    out += text.substr(at, splice.begin - at);
    out += splice.text;
    at = splice.end;
  }
  out += text.substr(at);
  return out;
}

size_t PlaceInSpliced(size_t offset, const std::vector<Splice>& splices) {
  size_t at = 0, place = offset;
  for (const Splice& splice : splices) {
    if (splice.begin < at) continue;
    if (splice.begin > offset) break;
    place += splice.text.size();
    place -= splice.end - splice.begin;
    at = splice.end;
  }
  return place;
}

}  // namespace gapless::internal
