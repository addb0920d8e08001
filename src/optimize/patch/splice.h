// SPDX-License-Identifier: Apache-2.0
// A Splice is a piece of a file that is replaced; offsets are bytes of the original text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal {

// The order of insertions at the same place.
enum class SplicePlace : uint8_t {
  kAfter,
  kImport,
  kAfterImports,
  kBefore,
  kArgumentLine,
  kReplacement,
  kIndentation,
  kWithin
};

struct Splice {
  size_t begin = 0, end = 0;  // equal: nothing goes
  std::string text{};
  SplicePlace place = SplicePlace::kWithin;
  size_t owner_begin = 0, owner_end = 0;  // the statement that it belongs to

  // The text is whole lines, each with its end, or without one where the file ends without.
  bool whole_lines() const { return place < SplicePlace::kIndentation; }
};

// The order in which splices are put into a text.
bool Precedes(const Splice& a, const Splice& b);
// Returns true if two splices replace the same bytes.
bool Overlap(std::vector<Splice> splices);
// Puts `unit` before each line of the splice's text; if the text begins within a line, before each line but the first.
void Indent(Splice& splice, std::string_view unit);
// Returns the text with the splices in it, which are sorted by Precedes().
std::string Spliced(std::string_view text, const std::vector<Splice>& splices);
// Returns the offset in that text of a byte that no splice replaces.
size_t PlaceInSpliced(size_t offset, const std::vector<Splice>& splices);

}  // namespace gapless::internal
