// SPDX-License-Identifier: Apache-2.0
// Reads what `perf script` prints: samples of call stacks with threads and times.
//
//   python 14633/14633 [001] 76776.179819:   10101010 cpu-clock:ppp:
//           ffffffff821f5127 exc_page_fault+0xd7 ([kernel.kallsyms])
//
// Fields may be missing, as -F leaves them out. The number before the event is nanoseconds for the events cpu-clock and
// task-clock, a count of something else for others: those samples stand for no known time. A file may hold several
// events; the first is the profile, samples of others are counted. The innermost frame comes first.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "base/strings.h"
#include "ingest/host_stacks.h"
#include "ingest/random_access.h"
#include "ingest/reader.h"

namespace gapless::internal::perf_script_reader {
namespace {

constexpr std::string_view kExtensions[] = {".perf", ".perf.txt"};
constexpr std::string_view kHint = "perf record -g -- python train.py; perf script > perf.txt writes one";
constexpr int64_t kMaxSeconds = 9'000'000'000;

struct Header {
  std::string_view comm{}, event{}, rest{};
  int64_t tid = kAbsent, ts_ns = kAbsent, period = kAbsent;
};

bool IsSpace(char c) { return c == ' ' || c == '\t'; }

int64_t NumberOf(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size() && value >= 0 ? value : kAbsent;
}

// "76776.179819" as ns, exactly.
int64_t SecondsOf(std::string_view text) {
  const size_t point = text.find('.');
  if (point == text.npos || text.size() - point - 1 > 9 || point + 1 == text.size()) return kAbsent;
  const int64_t seconds = NumberOf(text.substr(0, point));
  int64_t fraction = NumberOf(text.substr(point + 1));
  if (seconds == kAbsent || fraction == kAbsent || seconds > kMaxSeconds) return kAbsent;
  for (size_t digits = text.size() - point - 1; digits < 9; ++digits) fraction *= 10;
  return seconds * 1'000'000'000 + fraction;
}

// The thread of "14633/14634" or "14633".
int64_t ThreadOf(std::string_view word) {
  const size_t slash = word.find('/');
  if (slash == word.npos) return NumberOf(word);
  return NumberOf(word.substr(0, slash)) == kAbsent ? kAbsent : NumberOf(word.substr(slash + 1));
}

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < line.size();) {
    while (at < line.size() && IsSpace(line[at])) ++at;
    size_t end = at;
    while (end < line.size() && !IsSpace(line[end])) ++end;
    if (end > at) words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

// The event ends with a colon and has a letter: "cpu-clock:ppp:". Its period stands before it.
bool TakeEvent(const std::vector<std::string_view>& words, size_t at, std::string_view line, Header& header) {
  if (at < words.size() && NumberOf(words[at]) != kAbsent) header.period = NumberOf(words[at++]);
  if (at >= words.size() || !words[at].ends_with(':') || words[at].size() < 3) return false;
  if (std::ranges::none_of(words[at], [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }))
    return false;
  header.event = words[at].substr(0, words[at].size() - 1);
  header.rest = line.substr(static_cast<size_t>(words[at].data() - line.data()) + words[at].size());
  return true;
}

// A line that begins a sample; nullopt: it does not. The name of the program may hold spaces, so the fields are found
// from what follows it: the thread, perhaps the processor, the time.
std::optional<Header> HeaderOf(std::string_view line) {
  if (line.empty() || IsSpace(line[0]) || line[0] == '#') return std::nullopt;
  const std::vector<std::string_view> words = WordsOf(line);
  for (size_t i = 1; i < std::min<size_t>(words.size(), 12); ++i) {
    Header header{.tid = ThreadOf(words[i])};
    if (header.tid == kAbsent) continue;
    header.comm = line.substr(0, static_cast<size_t>(words[i - 1].data() - line.data()) + words[i - 1].size());
    size_t next = i + 1;
    if (next < words.size() && words[next].starts_with('[') && words[next].ends_with(']')) ++next;
    if (next < words.size() && words[next].ends_with(':'))
      if (header.ts_ns = SecondsOf(words[next].substr(0, words[next].size() - 1)); header.ts_ns != kAbsent) ++next;
    if (TakeEvent(words, next, line, header)) return header;
  }
  return std::nullopt;
}

// "ff306 _PyEval_EvalFrameDefault+0x4796 (/usr/lib/libpython3.11.so)". Functions of Python that perf knows by name are
// "py::train:/srv/app/train.py".
std::optional<HostFrame> FrameOf(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && (IsSpace(text.back()) || text.back() == '\r')) text.remove_suffix(1);
  HostFrame frame;
  if (text.ends_with(" (inlined)")) text.remove_suffix(10);
  if (const size_t open = text.rfind(" ("); open != text.npos && text.ends_with(')'))
    frame.file = text.substr(open + 2, text.size() - open - 3), text = text.substr(0, open);
  const size_t space = text.find(' ');
  const std::string_view first = text.substr(0, space);
  if (space != text.npos && first.find_first_not_of("0123456789abcdef") == first.npos) text.remove_prefix(space + 1);
  if (text.empty()) return std::nullopt;
  if (const size_t plus = text.rfind("+0x"); plus != text.npos && plus > 0) text = text.substr(0, plus);
  if (text.starts_with("py::")) {
    const size_t colon = text.find(':', 4);
    frame.file = colon == text.npos ? std::string_view() : text.substr(colon + 1);
    text = text.substr(4, colon == text.npos ? text.npos : colon - 4);
  }
  frame.function = text;
  return frame;
}

Sniff SniffHead(std::string_view head) {
  constexpr size_t kLinesLookedAt = 32;
  for (size_t lines = 0; !head.empty() && lines < kLinesLookedAt; ++lines) {
    const std::string_view line = head.substr(0, head.find('\n'));
    head.remove_prefix(std::min(head.size(), line.size() + 1));
    if (line.empty() || line.starts_with('#') || line == "\r") continue;
    if (line.find('\0') != line.npos || line.size() > 4096) return Sniff::kNo;
    const auto header = HeaderOf(line);
    if (!header) return Sniff::kNo;
    const bool has_frames = head.starts_with('\t') || head.starts_with(' ');
    return has_frames || header->ts_ns != kAbsent ? Sniff::kYes : Sniff::kMaybe;
  }
  return Sniff::kNo;
}

bool IsClock(std::string_view event) { return event.starts_with("cpu-clock") || event.starts_with("task-clock"); }

class Lines {
 public:
  explicit Lines(TraceBuilder& builder) : stacks_(builder, HostStacks::Lines::kBegin), builder_(builder) {}

  void Take(std::string_view line, int64_t offset) {
    if (line.empty() || line == "\r") return;
    if (const auto header = HeaderOf(line)) {
      Flush();
      header_ = header, innermost_first_.clear();
      if (const auto frame = FrameOf(header->rest)) innermost_first_.push_back(*frame);
    } else if (IsSpace(line[0]) && header_) {
      if (const auto frame = FrameOf(line)) innermost_first_.push_back(*frame);
    } else if (line[0] != '#') {
      builder_.Count("bad_record", Severity::kLoss, 1, offset, "a line that is neither a sample nor a frame");
    }
  }

  void Flush() {
    if (!header_) return;
    const Header& header = *header_;
    if (event_.empty()) event_ = header.event;
    if (header.event != event_) return void(++others_[std::string(header.event)]);
    if (innermost_first_.empty()) innermost_first_.push_back({.function = "[unknown]"});
    std::ranges::reverse(innermost_first_);
    if (header.ts_ns == kAbsent) timeless_ = true;
    const int64_t order = stacks_.rows();
    stacks_.Add(innermost_first_, {.ts_ns = timeless_ ? order : header.ts_ns,
                                   .tid = header.tid,
                                   .weight_ns = IsClock(header.event) ? header.period : kAbsent});
    if (threads_.emplace(header.tid, header.comm).second) builder_.NameThread(0, header.tid, header.comm);
  }

  void Finish() {
    Flush();
    stacks_.Finish();
    for (const auto& [event, count] : others_)
      builder_.Count("other_events", Severity::kLoss, count, kAbsent,
                     StrCat("samples of the event ", Printable(event), " were left out: the profile is that of ",
                            Printable(event_)));
    if (timeless_) CountTimeless(builder_);
    builder_.AddEnvironment("perf.event", event_);
  }
  int64_t rows() const { return stacks_.rows(); }

 private:
  HostStacks stacks_;
  TraceBuilder& builder_;
  std::optional<Header> header_;
  std::vector<HostFrame> innermost_first_;
  std::string event_;
  std::map<std::string, int64_t> others_;
  std::map<int64_t, std::string> threads_;
  bool timeless_ = false;
};

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(const std::string text, ReadAll(source));
  Lines lines(builder);
  for (size_t at = 0; at < text.size();) {
    if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.Take(std::string_view(text).substr(at, end - at), static_cast<int64_t>(at));
    at = end + 1;
  }
  lines.Finish();
  if (lines.rows() == 0)
    return Fail(ErrorCode::kInput, "the output of perf script holds no sample", source.path(), std::string(kHint));
  builder.info().event_count = lines.rows();
  builder.AddEnvironment("python.profile", "sample");
  return {};
}

}  // namespace

READER(perf_script) = {.name = "perf_script",
                       .help = "Samples of call stacks as perf script prints them (Linux perf)",
                       .extensions = kExtensions,
                       .sniff = SniffHead,
                       .read = Read,
                       .complete = nullptr};

}  // namespace gapless::internal::perf_script_reader
