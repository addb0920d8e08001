// SPDX-License-Identifier: Apache-2.0
// Reads pyinstrument's profiles: a tree of frames with their total times (-r json), or a session with its samples in
// their order (-r session, .pyisession).
//
// The own time of a frame of a tree is its time without its children; it has no times of samples. A session has one
// stack and one duration a record, the outermost frame first, so its samples stand one after the other from the start.
#include <algorithm>
#include <vector>

#include "ingest/host_stacks.h"
#include "ingest/reader.h"
#include "ingest/readers/profile_json/document.h"

namespace gapless::internal::pyinstrument_reader {
namespace {

namespace dom = simdjson::dom;
using namespace profile_json;
constexpr std::string_view kExtensions[] = {".pyisession", ".pyinstrument.json"};
constexpr std::string_view kHint = "pyinstrument -r session -o profile.pyisession train.py writes one";

Sniff SniffHead(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == head.npos || head[first] != '{') return Sniff::kNo;
  const auto has = [&](std::string_view part) { return head.find(part) != head.npos; };
  if (!has("\"sample_count\"") || !has("\"duration\"")) return Sniff::kNo;
  return has("\"root_frame\"") || has("\"frame_records\"") || has("\"start_call_stack\"") ? Sniff::kYes : Sniff::kNo;
}

int64_t NumberOf(std::string_view text) {
  int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || value > int64_t{1} << 52) return kAbsent;
    value = 10 * value + (c - '0');
  }
  return text.empty() ? kAbsent : value;
}

class Tree {
 public:
  explicit Tree(HostStacks& stacks) : stacks_(stacks) {}

  // Frames may be nested deeply, so they are walked with a stack of their own.
  void Take(const dom::element& root) {
    struct Node {
      dom::element element;
      size_t depth;
    };
    std::vector<Node> open{{root, 0}};
    while (!open.empty()) {
      const Node node = open.back();
      open.pop_back();
      path_.resize(node.depth);
      const std::string_view name = TextAt(node.element, "function");
      const bool is_part = name.starts_with('[') && name.ends_with(']');  // "[self]": time of the frame around it
      if (!is_part)
        path_.push_back({.file = TextAt(node.element, "file_path"), .function = name, .line = LineOf(node.element)});
      double own = RealAt(node.element, "time");
      for (const dom::element child : ArrayAt(node.element, "children")) {
        if (const double part = RealAt(child, "time"); part > 0) own -= part;
        open.push_back({child, path_.size()});
      }
      constexpr double kLeast = 1e-6;  // numbers are printed to a millionth
      if (const int64_t ns = NsOf(std::max(0.0, own)); own > kLeast && ns != kAbsent)
        stacks_.Add(path_, {.ts_ns = order_++, .weight_ns = ns});
    }
  }

 private:
  static int64_t LineOf(const dom::element& frame) {
    const int64_t line = IntAt(frame, "line_no");
    return line > 0 ? line : kAbsent;
  }
  HostStacks& stacks_;
  std::vector<HostFrame> path_;
  int64_t order_ = 0;
};

// "train\0/srv/train.py\0" and the line where the function begins; behind \1 are attributes.
HostFrame FrameOf(std::string_view text) {
  text = text.substr(0, text.find('\1'));
  const size_t first = text.find('\0');
  if (first == text.npos) return {.function = text};
  const size_t second = std::min(text.find('\0', first + 1), text.size());
  const int64_t line = second < text.size() ? NumberOf(text.substr(second + 1)) : kAbsent;
  return {.file = text.substr(first + 1, second - first - 1), .function = text.substr(0, first), .line = line};
}

void ReadRecords(const dom::array& records, HostStacks& stacks, TraceBuilder& builder) {
  int64_t at_ns = 0;
  std::vector<HostFrame> stack;
  for (const dom::element record : records) {
    dom::array pair, frames;
    double seconds = kNan;
    stack.clear();
    int64_t thread = kAbsent;
    if (record.get(pair) != simdjson::SUCCESS || pair.size() != 2 || pair.at(0).get(frames) != simdjson::SUCCESS ||
        pair.at(1).get(seconds) != simdjson::SUCCESS || NsOf(seconds) == kAbsent || at_ns > int64_t{1} << 60) {
      builder.Count("bad_record", Severity::kLoss, 1, kAbsent, "a record that is no sample");
      continue;
    }
    for (const dom::element frame : frames) {
      std::string_view text;
      if (frame.get(text) != simdjson::SUCCESS) continue;
      const HostFrame found = FrameOf(text);
      if (found.file == "<thread>") {
        if (thread = found.line; thread != kAbsent) builder.NameThread(0, thread, found.function);
      } else {
        stack.push_back(found);
      }
    }
    stacks.Add(stack, {.ts_ns = at_ns, .tid = thread, .weight_ns = NsOf(seconds)});
    at_ns += NsOf(seconds);
  }
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& /*context*/) {
  Document document;
  GAPLESS_TRY(Parse(source, "profile of pyinstrument", kHint, document));
  HostStacks stacks(builder, HostStacks::Lines::kBegin);
  dom::element root, session = document.root;
  dom::array records;
  if (document.root["session"].get(session) != simdjson::SUCCESS) session = document.root;
  if (document.root["root_frame"].get(root) == simdjson::SUCCESS) {
    Tree(stacks).Take(root);
    CountTimeless(builder);
  } else if (session["frame_records"].get(records) == simdjson::SUCCESS) {
    ReadRecords(records, stacks, builder);
    builder.info().start_unix_ns = UnixNsOf(RealAt(session, "start_time"));
  }
  if (stacks.rows() == 0)
    return Fail(ErrorCode::kInput, "the profile of pyinstrument holds no frame with a time", source.path(),
                std::string(kHint));
  stacks.Finish();
  builder.info().event_count = stacks.rows();
  builder.AddEnvironment("python.profile", "sample");
  return {};
}

}  // namespace

READER(pyinstrument) = {.name = "pyinstrument",
                        .help = "Samples of a Python program, as pyinstrument took them: -r json or -r session",
                        .extensions = kExtensions,
                        .sniff = SniffHead,
                        .read = Read,
                        .complete = nullptr};

}  // namespace gapless::internal::pyinstrument_reader
