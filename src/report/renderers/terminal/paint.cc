// SPDX-License-Identifier: Apache-2.0
// Implements colours, stacked bars, padding and wrapping for the terminal, and the replacement of characters outside
// ASCII. All widths are terminal columns (DisplayWidth), not bytes or code points.
#include "report/renderers/terminal/paint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr double kSmallestShown = 0.005;

// Select Graphic Rendition of a tone: the sixteen colours that every terminal has and every theme makes readable.
std::string_view CodeOf(Tone tone) {
  // The same meanings as on the page (web/src/style.css): cool is work, warm is waste, green is what to do.
  switch (tone) {
    case Tone::kPlain: return "";
    case Tone::kBold: return "1";
    case Tone::kDim: return "2";
    case Tone::kCompute: return "94";
    case Tone::kCommunication: return "35";
    case Tone::kCopy: return "36";
    case Tone::kIdle: return "31";
    case Tone::kAction: return "32";
    case Tone::kCritical: return "1;31";
    case Tone::kWarning: return "1;33";
    case Tone::kGood: return "1;32";
  }
  return "";
}

// Length of the UTF-8 character that starts with `lead`.
size_t CharacterLength(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace

std::string Paint::In(Tone tone, std::string_view text) const {
  const std::string_view code = CodeOf(tone);
  if (!options_.colour || code.empty() || text.empty()) return std::string(text);
  return StrCat("\x1b[", code, "m", text, "\x1b[0m");
}

std::string_view GlyphOf(Tone tone) {
  switch (tone) {
    case Tone::kCompute: return "█";
    case Tone::kCommunication: return "▓";
    case Tone::kCopy: return "▒";
    default: return "░";
  }
}

// Rounds each part by itself, then gives the difference to the largest part, where it changes the proportion least.
std::string StackedBar(const Paint& paint, const std::vector<BarPart>& parts, int cells) {
  std::vector<int> sizes;
  int used = 0;
  for (const BarPart& part : parts) {
    int size = static_cast<int>(std::lround(part.share * cells));
    if (size == 0 && part.share >= kSmallestShown) size = 1;
    sizes.push_back(std::max(0, size));
    used += sizes.back();
  }
  if (sizes.empty()) return {};
  auto largest = std::ranges::max_element(sizes);
  *largest = std::max(0, *largest + cells - used);
  std::string bar;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string run;
    for (int cell = 0; cell < sizes[i]; ++cell) run += GlyphOf(parts[i].tone);
    bar += paint.In(parts[i].tone, run);
  }
  return bar;
}

std::string PadLeft(std::string_view text, int width) {
  return std::string(static_cast<size_t>(std::max(0, width - DisplayWidth(text))), ' ').append(text);
}

std::string PadRight(std::string_view text, int width) {
  return std::string(text).append(static_cast<size_t>(std::max(0, width - DisplayWidth(text))), ' ');
}

std::vector<std::string> WrapCut(std::string_view text, int width) {
  std::vector<std::string> lines = WrapWords(text, width);
  for (std::string& line : lines) line = Ellipsize(line, width);
  return lines;
}

std::vector<std::string> WrapItems(const std::vector<std::string>& items, int width) {
  std::vector<std::string> lines;
  std::string line;
  for (const std::string& item : items) {
    if (item.empty()) continue;
    if (!line.empty() && DisplayWidth(line) + 3 + DisplayWidth(item) > width) lines.push_back(std::exchange(line, {}));
    line += StrCat(line.empty() ? "" : " · ", Ellipsize(item, width));
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string ToAscii(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 22> kSame = {{
      {"█", '#'}, {"▓", '='}, {"▒", '+'}, {"░", '.'},  {"·", '|'}, {"×", 'x'}, {"µ", 'u'}, {"–", '-'},
      {"—", '-'}, {"→", '>'}, {"…", '~'}, {"◀", '<'},  {"●", '*'}, {"○", 'o'}, {"≥", '>'}, {"≤", '<'},
      {"‑", '-'}, {"“", '"'}, {"”", '"'}, {"’", '\''}, {"−", '-'}, {"─", '-'},
  }};
  std::string out;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, CharacterLength(text[0]));
    text.remove_prefix(character.size());
    const auto found = std::ranges::find(kSame, character, &std::pair<std::string_view, char>::first);
    if (character.size() == 1) {
      out += character;
    } else if (found != kSame.end()) {
      out += found->second;
    } else {
      out.append(static_cast<size_t>(std::max(0, DisplayWidth(character))), '?');
    }
  }
  return out;
}

}  // namespace gapless::internal
