// SPDX-License-Identifier: Apache-2.0
#include "cli/loading.h"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <mutex>

#include "base/strings.h"
#include "cli/failure.h"

namespace gapless::internal {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSilence = std::chrono::seconds(1);          // shorter work shows nothing
constexpr auto kInterval = std::chrono::milliseconds(100);  // between two updates
constexpr int64_t kMostRanks = 1 << 20;

// One line on standard error, rewritten in place. Called from any thread.
class ProgressLine {
 public:
  ~ProgressLine() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
  }

  void Update(const LoadProgress& progress) {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    if (now - start_ < kSilence || now - last_ < kInterval) return;
    last_ = now;
    shown_ = true;
    std::string done = FormatBytes(static_cast<int64_t>(progress.bytes_done));
    if (progress.bytes_total > 0) {
      const auto share = static_cast<double>(progress.bytes_done) / static_cast<double>(progress.bytes_total);
      done = StrCat(FormatNumber(share * 100, 0), " % of ", FormatBytes(static_cast<int64_t>(progress.bytes_total)));
    }
    std::fputs(StrCat("\rreading ", Ellipsize(Printable(progress.path), kPathWidth), "  ", done, "\x1b[K").c_str(),
               stderr);
  }

 private:
  static constexpr int kPathWidth = 50;
  std::mutex mutex_;
  Clock::time_point start_ = Clock::now(), last_ = start_;
  bool shown_ = false;
};

Result<int64_t> ParseRank(std::string_view text) {
  int64_t rank = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (code != std::errc() || end != text.data() + text.size() || rank < 0 || rank > kMostRanks) {
    return Fail(ErrorCode::kUsage, StrCat("'", Printable(text), "' is not a rank"), "", "--rank 0,4-7");
  }
  return rank;
}

}  // namespace

Result<std::vector<int64_t>> ParseRanks(const std::vector<std::string>& items) {
  std::vector<int64_t> ranks;
  for (const std::string& item : items) {
    const auto ends = Split(item, '-');
    const auto first = ParseRank(ends.front());
    if (!first) return Unexpected{first.error()};
    const auto last = ParseRank(ends.back());
    if (!last) return Unexpected{last.error()};
    if (ends.size() > 2 || *last < *first)
      return Fail(ErrorCode::kUsage, StrCat("'", Printable(item), "' is not a range of ranks"));
    for (int64_t rank = *first; rank <= *last; ++rank) ranks.push_back(rank);
  }
  return ranks;
}

Result<LoadedRun> LoadFor(const Arguments& arguments, const Session& session, std::span<const std::string> paths) {
  auto ranks = ParseRanks(arguments.List("rank"));
  if (!ranks) return Unexpected{ranks.error()};
  ProgressLine line;
  LoadOptions options;
  options.use_cache = !arguments.Has("no-cache");
  options.ranks = std::move(*ranks);
  options.cancel = session.cancel;
  if (session.stderr_is_tty) options.progress = [&line](const LoadProgress& progress) { line.Update(progress); };
  auto loaded = LoadRun(paths, options);
  if (loaded && session.cancel != nullptr && session.cancel->load())
    return Fail(ErrorCode::kInterrupted, "interrupted");
  return loaded;
}

void WarnOfLosses(const LoadedRun& loaded) {
  const auto warn = [](std::string_view path, std::string_view text) {
    std::fputs(StrCat("gapless: warning: ", Printable(path), ": ", Printable(text), "\n").c_str(), stderr);
  };
  for (const Error& error : loaded.failures) warn(error.place, error.message);
  for (const RunTrace& trace : loaded.run.traces()) {
    const ReadStatsTable& stats = trace.trace->read_stats;
    for (size_t row = 0; row < stats.size(); ++row) {
      if (stats.severity[row] == Severity::kInfo) continue;
      warn(trace.trace->info.path,
           StrCat(trace.trace->Text(stats.text[row]), " (", FormatCount(stats.count[row]), ")"));
    }
  }
}

}  // namespace gapless::internal
