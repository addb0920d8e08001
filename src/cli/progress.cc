// SPDX-License-Identifier: Apache-2.0
// Writes the progress line: \r returns to its beginning, and "erase to the end of the line" removes what was longer
// before.
#include "cli/progress.h"

#include <cstdio>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr auto kSilence = std::chrono::seconds(1);          // shorter work shows nothing
constexpr auto kInterval = std::chrono::milliseconds(100);  // between two updates
constexpr int kWhatWidth = 50;

}  // namespace

ProgressLine::ProgressLine(AtOnce /*at_once*/) : start_(Clock::now() - kSilence) {}

// Erases the line, so that the next message begins on an empty one.
ProgressLine::~ProgressLine() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::Update(std::string_view doing, std::string_view what, uint64_t done, uint64_t total,
                          std::string (*amount)(uint64_t)) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (now - start_ < kSilence || now - last_ < kInterval) return;
  last_ = now;
  shown_ = true;
  std::string how_far = amount(done);
  if (total > 0) {
    const double share = static_cast<double>(done) / static_cast<double>(total);
    how_far = StrCat(FormatNumber(share * 100, 0), " % of ", amount(total));
  }
  std::fputs(StrCat("\r", doing, " ", Ellipsize(Printable(what), kWhatWidth), "  ", how_far, "\x1b[K").c_str(), stderr);
}

}  // namespace gapless::internal
