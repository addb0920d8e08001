// SPDX-License-Identifier: Apache-2.0
// The command to type after a verb. One place decides it, so that the terminal, the documents of --json and the page
// say the same: find (profile, analyze), fix (optimize), prove (compare, validate), guard (gate).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal {

enum class After : uint8_t {
  kRecording,  // a command was recorded
  kReading,    // a recording was analysed
  kFaster,     // a command turned out to be faster than another
  kMeasuring,  // a command was measured
};

struct NextFacts {
  std::vector<std::string> command{};  // that was recorded or measured, of two the better one; empty: not known
  std::string path{};                  // path of the recording, as a shell takes it
  std::string_view rule{};             // that found what to fix first; "": nothing was found
};

// Whole lines, the one to type first at the front; secrets in the command are not shown. Empty: nothing follows.
std::vector<std::string> NextLines(After after, const NextFacts& facts);

// "next: LINE" with a line end, of the first line; "" if there is none.
std::string NextText(const std::vector<std::string>& lines);

}  // namespace gapless::internal
