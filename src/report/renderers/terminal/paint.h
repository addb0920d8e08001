// SPDX-License-Identifier: Apache-2.0
// Colours of the terminal report that mean the same everywhere, bars, and lines that keep to the width.
//
// Texts given to these functions are plain; colour is added last, so widths are those of the text. With utf8 off the
// report is written as usual and ToAscii() replaces each character by one of the same width.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/renderer.h"

namespace gapless::internal {

// The meaning of a text, which decides its colour.
enum class Tone : uint8_t {
  kPlain,
  kBold,
  kDim,
  kCompute,
  kCommunication,
  kCopy,
  kIdle,
  kAction,
  kCritical,
  kWarning,
  kGood
};

class Paint {
 public:
  explicit Paint(const RenderOptions& options) : options_(options) {}
  int width() const { return options_.width; }
  bool verbose() const { return options_.verbose; }

  // The text in the tone's colour; as it is when there is no colour.
  std::string In(Tone tone, std::string_view text) const;

 private:
  RenderOptions options_;
};

// A part of a bar: what it is (its glyph shows it, too, for those who see no colour) and how much of the whole.
struct BarPart {
  Tone tone;
  double share;
};
// The glyph of compute, communication, copy, idle.
std::string_view GlyphOf(Tone tone);
// A bar of exactly `cells` columns. Parts of at least half a per cent get a cell; the largest gives what the others
// take.
std::string StackedBar(const Paint& paint, const std::vector<BarPart>& parts, int cells);

// Pad to `width` columns, on the left (right-aligned text) or on the right (left-aligned text). A text that is wider
// stays as it is.
std::string PadLeft(std::string_view text, int width);
std::string PadRight(std::string_view text, int width);

// As WrapWords, but words that are longer than a line are cut.
std::vector<std::string> WrapCut(std::string_view text, int width);
// The same, broken only between items, which are joined with " · ".
std::vector<std::string> WrapItems(const std::vector<std::string>& items, int width);

// Every character outside ASCII replaced by one ASCII character that means the same, or '?'.
std::string ToAscii(std::string_view text);

}  // namespace gapless::internal
