// SPDX-License-Identifier: Apache-2.0
// Reads collapsed stacks, a stack and a number in each line: "main;load;read 12". py-spy --format raw, austin,
// async-profiler, stackcollapse-perf.pl and other scripts of FlameGraph write them.
//
// The number counts samples, except austin's, which is microseconds: its lines begin with process and thread. A frame
// is "function (file:line)" (py-spy), "file:function:line" (austin), or a name of any other form. The file has no
// times, so its rows have the order of the file in place of one.
#include <charconv>
#include <optional>
#include <vector>

#include "base/strings.h"
#include "ingest/host_stacks.h"
#include "ingest/random_access.h"
#include "ingest/reader.h"

namespace gapless::internal::collapsed_reader {
namespace {

constexpr std::string_view kExtensions[] = {".folded", ".collapsed"};
constexpr std::string_view kHint = "py-spy record --format raw -o profile.folded -- python train.py writes one";
constexpr int64_t kMaxNumber = int64_t{1} << 50;
constexpr size_t kLinesLookedAt = 64;

struct Line {
  std::string_view stack{};
  int64_t number = 0;
};

// "a;b;c 12"; austin's full form "a;b 12,0,0" counts by its first number. Nullopt: it is none.
std::optional<Line> LineOf(std::string_view text) {
  const size_t space = text.rfind(' ');
  if (space == text.npos || space == 0) return std::nullopt;
  Line line{.stack = text.substr(0, space)};
  const std::string_view number = text.substr(space + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), line.number);
  const bool whole = end == number.data() + number.size() || *end == ',';
  if (number.empty() || error != std::errc() || !whole || line.number < 0 || line.number > kMaxNumber)
    return std::nullopt;
  return line;
}

std::string_view Trimmed(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  return line;
}

bool IsPlain(std::string_view text) {
  return text.find('\0') == text.npos && text.find('\t') == text.npos && text.front() != '{' &&
         !text.starts_with("<!") && !text.starts_with("<html") && !text.starts_with("<?xml");
}

// Every line of the head must be one, and half of them must hold more than a frame: other text ends with numbers, too.
Sniff SniffHead(std::string_view head) {
  size_t lines = 0, deep = 0;
  while (!head.empty() && lines < kLinesLookedAt) {
    const size_t end = head.find('\n');
    if (end == head.npos && lines > 0) break;  // it may be cut off
    const std::string_view line = Trimmed(head.substr(0, end));
    head.remove_prefix(end == head.npos ? head.size() : end + 1);
    if (line.empty() || line.starts_with("# ")) continue;
    const auto found = LineOf(line);
    if (!found || !IsPlain(line)) return Sniff::kNo;
    ++lines, deep += found->stack.find(';') != line.npos ? 1 : 0;
  }
  return deep > 0 && 2 * deep >= lines ? Sniff::kYes : Sniff::kNo;
}

int64_t NumberOf(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() ? value : kAbsent;
}

HostFrame FrameOf(std::string_view text) {
  const size_t last = text.rfind(':');
  if (text.ends_with(')') && last != text.npos) {  // py-spy
    const size_t open = text.rfind(" (");
    const int64_t line = NumberOf(text.substr(last + 1, text.size() - last - 2));
    if (open != text.npos && open < last && line != kAbsent)
      return {.file = text.substr(open + 2, last - open - 2), .function = text.substr(0, open), .line = line};
  }
  if (last == text.npos || last == 0) return {.function = text};
  const int64_t line = NumberOf(text.substr(last + 1));  // austin
  const size_t before = text.rfind(':', last - 1);
  if (line == kAbsent || before == text.npos) return {.function = text};
  return {.file = text.substr(0, before), .function = text.substr(before + 1, last - before - 1), .line = line};
}

// A frame that stands for a thread: "T123" or "T0:123" of austin, "thread (123)" of py-spy, "[name tid=123]" of
// async-profiler. Absent: the frame is one.
int64_t ThreadOf(std::string_view frame) {
  if (frame.starts_with("thread (") && frame.ends_with(')')) return NumberOf(frame.substr(8, frame.size() - 9));
  if (frame.starts_with("Thread ")) frame.remove_prefix(6), frame = frame.substr(frame.find_first_not_of(' '));
  if (const size_t tid = frame.find(" tid="); frame.starts_with('[') && frame.ends_with(']') && tid != frame.npos)
    return NumberOf(frame.substr(tid + 5, frame.size() - tid - 6));
  if (!frame.starts_with('T')) return kAbsent;
  return NumberOf(frame.substr(std::max<size_t>(1, frame.rfind(':') + 1)));
}

class Lines {
 public:
  explicit Lines(TraceBuilder& builder) : stacks_(builder, HostStacks::Lines::kRan), builder_(builder) {}

  void Take(std::string_view text, int64_t offset) {
    text = Trimmed(text);
    if (text.starts_with("# "))
      return void(micros_ = micros_ || text.starts_with("# austin") || text == "# mode: wall");
    if (text.empty()) return;
    const auto line = LineOf(text);
    if (!line) return builder_.Count("bad_record", Severity::kLoss, 1, offset, "a line that is no stack and number");
    HostSample sample{.ts_ns = order_++, .count = line->number};
    std::vector<std::string_view> frames = Split(line->stack, ';');
    size_t first = 0;
    if (frames.size() > 1 && frames[0].starts_with('P') && NumberOf(frames[0].substr(1)) != kAbsent)
      micros_ = true, first = 1;
    if (first < frames.size())
      if (const int64_t thread = ThreadOf(frames[first]); thread != kAbsent) sample.tid = thread, ++first;
    stack_.clear();
    for (size_t i = first; i < frames.size(); ++i)
      if (!frames[i].empty()) stack_.push_back(FrameOf(frames[i]));
    if (micros_) sample.weight_ns = line->number * 1000, sample.count = 1;
    stacks_.Add(stack_, sample);
  }

  void Finish() { stacks_.Finish(); }
  int64_t rows() const { return stacks_.rows(); }

 private:
  HostStacks stacks_;
  TraceBuilder& builder_;
  std::vector<HostFrame> stack_;
  bool micros_ = false;
  int64_t order_ = 0;
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
  if (lines.rows() == 0)
    return Fail(ErrorCode::kInput, "the collapsed stacks hold no sample", source.path(), std::string(kHint));
  lines.Finish();
  CountTimeless(builder);
  builder.info().event_count = lines.rows();
  builder.AddEnvironment("python.profile", "sample");
  return {};
}

}  // namespace

READER(collapsed) = {.name = "collapsed",
                     .help = "Collapsed stacks (a;b;c 12): py-spy --format raw, austin, async-profiler, FlameGraph",
                     .extensions = kExtensions,
                     .sniff = SniffHead,
                     .read = Read,
                     .complete = nullptr};

}  // namespace gapless::internal::collapsed_reader
