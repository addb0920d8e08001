// SPDX-License-Identifier: Apache-2.0
// A text is looked at in two ways. Pieces between ";" and line ends are frames if a number in brackets, or behind a
// colon, follows a file of Python: then all before it is the path, spaces included. In all other texts paths are found
// by their form, so that names of kernels, operators and modules are none.
#include "ingest/path_texts.h"

#include <algorithm>
#include <charconv>

#include "base/pattern.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kPathForms =
    R"re((?:^|[\s"'`=(,;:\[{<|&])()re"
    R"re((?:[A-Za-z]:[\\/]+|\\\\|~[\\/]|/+)[\p{L}\p{N}_.~-][^\s"'`<>|;,()=\[\]{}*?&]*)re"
    R"re(|[\p{L}\p{N}_.+@-][\p{L}\p{N}_.+@\\/-]*\.(?:pyx?|ipynb|cuh?|cpp|cc|hpp|so|json|gz|zst|pth?|ckpt|ya?ml|toml|sh|np[yz]|csv|safetensors|parquet|pkl|pickle|sqlite|nsys-rep|ncu-rep)\b))re";

bool IsSource(std::string_view path) {
  return std::ranges::any_of(std::to_array<std::string_view>({".py", ".pyx", ".pyi", ".ipynb"}),
                             [path](std::string_view end) { return path.ends_with(end); });
}

// Reads the digits of text[begin, end) as a line; 0: it is something else.
int64_t LineIn(std::string_view text, size_t begin, size_t end) {
  int64_t line = 0;
  const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, line);
  return error == std::errc() && stop == text.data() + end ? line : 0;
}

// Finds the path of a frame in text[begin, end).
bool FindFrame(std::string_view text, size_t begin, size_t end, PathInText& found) {
  while (begin < end && text[begin] == ' ') ++begin;
  const std::string_view piece = text.substr(begin, end - begin);
  for (size_t open = piece.find('('); open != piece.npos; open = piece.find('(', open + 1)) {
    const size_t close = piece.find(')', open);
    if (close == piece.npos) break;
    if (!IsSource(piece.substr(0, open))) continue;
    found = {begin, begin + open, LineIn(piece, open + 1, close)};
    return found.line > 0;
  }
  const size_t colon = piece.rfind(':');
  if (colon == piece.npos || !IsSource(piece.substr(0, colon))) return false;
  found = {begin, begin + colon, LineIn(piece, colon + 1, piece.size())};
  return found.line > 0;
}

void FindForms(std::string_view text, size_t begin, size_t end, std::vector<PathInText>& paths) {
  static const Pattern& forms = *new Pattern(*Pattern::Make(kPathForms, "forms of paths"));
  forms.ForEach(text.substr(begin, end - begin), [&](std::string_view path) {
    const auto at = static_cast<size_t>(path.data() - text.data());
    size_t size = path.size();
    // "a/b.py:3" and a full stop at the end of a sentence are no parts of the path.
    int64_t line = 0;
    if (const size_t colon = path.rfind(':'); colon != path.npos && colon > 1 && LineIn(path, colon + 1, size) > 0)
      line = LineIn(path, colon + 1, size), size = colon;
    while (size > 1 && (path[size - 1] == '.' || path[size - 1] == ':')) --size;
    paths.push_back({at, at + size, line});
  });
}

}  // namespace

std::vector<PathInText> PathsIn(std::string_view text) {
  std::vector<PathInText> paths;
  if (text.find_first_of("/\\.") == text.npos) return paths;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of(";\n", begin), text.size());
    PathInText frame;
    if (FindFrame(text, begin, end, frame) && text[frame.begin] != '<')
      paths.push_back(frame);
    else
      FindForms(text, begin, end, paths);
    begin = end + 1;
  }
  return paths;
}

std::string WithSlashes(std::string_view path) {
  std::string out;
  for (const char c : path)
    if (c != '\\')
      out += c;
    else if (!out.ends_with('/'))
      out += '/';
  return out;
}

}  // namespace gapless::internal
