// SPDX-License-Identifier: Apache-2.0
// Writes the progress line: \r returns to its beginning, and "erase to the end of the line" removes what was longer
// before. GAPLESS_PROGRESS_SECONDS shortens the pauses between printed lines for tests.
#include "cli/progress.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr auto kSilence = std::chrono::seconds(1);             // shorter work shows nothing
constexpr auto kInterval = std::chrono::milliseconds(100);     // between two updates
constexpr auto kEstimated = std::chrono::seconds(5);           // earlier, nothing is said of the time that is left
constexpr double kPrintedSilence = 10, kPrintedInterval = 30;  // s; the same of printed lines
constexpr int kWhatWidth = 50;

bool OnTerminal() {
  static const bool is = isatty(STDERR_FILENO) == 1;
  return is;
}

std::chrono::duration<double> Printed(double seconds) {
  const char* const given = std::getenv("GAPLESS_PROGRESS_SECONDS");
  return std::chrono::duration<double>(given != nullptr ? std::atof(given) : seconds);
}

std::string TimeText(std::chrono::steady_clock::duration time) {
  return FormatDuration(std::chrono::duration_cast<std::chrono::seconds>(time).count() * 1'000'000'000);
}

}  // namespace

ProgressLine::ProgressLine(AtOnce /*at_once*/) : start_(Clock::now() - kSilence) {}

// Erases the line, so that the next message begins on an empty one.
ProgressLine::~ProgressLine() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  if (!printed_.empty() && is_one_work_)
    std::fputs(StrCat(printed_, " took ", TimeText(Clock::now() - begun_), "\n").c_str(), stderr);
}

void ProgressLine::Print(const std::string& text, std::string_view doing, Clock::time_point now) {
  if (now - begun_ < Printed(kPrintedSilence) || (!printed_.empty() && now - last_ < Printed(kPrintedInterval))) return;
  last_ = now;
  if (printed_.empty()) printed_ = doing;
  is_one_work_ = is_one_work_ && printed_ == doing;
  std::fputs(StrCat(text, "\n").c_str(), stderr);
}

// The time that is left is what the rest takes at the speed so far; work may end before its total is reached.
void ProgressLine::Update(std::string_view doing, std::string_view what, uint64_t done, uint64_t total,
                          std::string (*amount)(uint64_t)) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (OnTerminal() && (now - start_ < kSilence || now - last_ < kInterval)) return;
  std::string how_far = done > 0 || total > 0 ? amount(done) : "";
  if (total > 0) {
    const double share = static_cast<double>(done) / static_cast<double>(total);
    how_far = StrCat(FormatNumber(share * 100, 0), " % of ", amount(total));
    if (const auto took = now - begun_; done > 0 && done < total && took >= kEstimated)
      how_far += StrCat(", ", TimeText(took), ", at most ",
                        TimeText(std::chrono::duration_cast<Clock::duration>(took * ((1 - share) / share))), " more");
  }
  std::string text(doing);
  if (!what.empty()) text += StrCat(" ", Ellipsize(Printable(what), kWhatWidth));
  if (!how_far.empty()) text += StrCat("  ", how_far);
  if (!OnTerminal()) return Print(text, doing, now);
  last_ = now;
  shown_ = true;
  std::fputs(StrCat("\r", text, "\x1b[K").c_str(), stderr);
}

}  // namespace gapless::internal
