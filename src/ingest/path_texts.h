// SPDX-License-Identifier: Apache-2.0
// Paths within the texts of a recording: frames of Python, calls, settings, commands; of Linux, macOS and Windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace gapless::internal {

// A path, from `begin` to `end` of a text, and the line behind it: "a.py(3): f", "a.py:3"; 0 where there is none.
struct PathInText {
  size_t begin = 0, end = 0;
  int64_t line = 0;
};

// In order, without overlaps. A path is absolute, begins at the home folder, or ends like a file of code or data. That
// of a frame may have spaces.
std::vector<PathInText> PathsIn(std::string_view text);

// The path with "/" between its parts, as on Linux.
std::string WithSlashes(std::string_view path);

// Gives each text of a trace that has not been analysed the one that `changed` returns for it, in place: rows keep
// their ids.
template <class F>
void ChangeTexts(Trace& trace, F&& changed) {
  auto owned = std::make_shared<std::vector<std::unique_ptr<std::string>>>();
  std::vector<std::string_view> views{{}};
  for (size_t id = 1; id < trace.strings.size(); ++id) {
    const std::string_view text = trace.strings[static_cast<StringId>(id)];
    auto made = std::make_unique<std::string>(changed(text));
    if (*made == text) {
      views.push_back(text);
      continue;
    }
    views.push_back(*made);
    owned->push_back(std::move(made));
  }
  // Whatever is unchanged stays in the pool that there was.
  auto before = std::make_shared<StringPool>(std::move(trace.strings));
  auto owner = std::make_shared<std::pair<decltype(owned), decltype(before)>>(owned, before);
  trace.strings = StringPool::FromViews(std::move(views), owner);
}

}  // namespace gapless::internal
