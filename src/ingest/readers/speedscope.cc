// SPDX-License-Identifier: Apache-2.0
// Reads profiles in speedscope's format, as py-spy (--format speedscope), austin2speedscope and our agent write them:
// samples of call stacks become rows of sample and stack, and their sums rows of host_function.
//
// A "sampled" profile has stacks and how long each stands for; an "evented" one when each frame was entered and left,
// of which the time between two events is a sample. Profiles whose unit is no time (bytes, counts) are counted and left
// out. Each profile is a thread. The document is held in memory, up to 1 GiB.
#include <simdjson.h>

#include <cmath>
#include <vector>

#include "base/strings.h"
#include "ingest/host_stacks.h"
#include "ingest/random_access.h"
#include "ingest/reader.h"

namespace gapless::internal::speedscope_reader {
namespace {

namespace dom = simdjson::dom;
constexpr std::string_view kExtensions[] = {".speedscope.json", ".speedscope"};
constexpr std::string_view kHint =
    "py-spy record --format speedscope -o profile.speedscope.json -- python train.py writes one";
constexpr double kMaxNs = 1e18;

Sniff SniffHead(std::string_view head) {
  const auto has = [&](std::string_view part) { return head.find(part) != head.npos; };
  if (has("speedscope.app/file-format-schema")) return Sniff::kYes;
  return has("\"profiles\"") && has("\"shared\"") && has("\"frames\"") ? Sniff::kMaybe : Sniff::kNo;
}

// Nanoseconds of a unit; 0: it is no time.
double NsOfUnit(std::string_view unit) {
  if (unit == "seconds") return 1e9;
  if (unit == "milliseconds") return 1e6;
  if (unit == "microseconds") return 1e3;
  return unit == "nanoseconds" ? 1 : 0;
}

std::string_view TextAt(const dom::element& element, std::string_view key) {
  std::string_view text;
  return element[key].get(text) == simdjson::SUCCESS ? text : std::string_view();
}

class Writer {
 public:
  explicit Writer(TraceBuilder& builder) : builder_(builder), stacks_(builder, HostStacks::Lines::kBegin) {}

  void AddFrame(const dom::element& frame) {
    int64_t line = kAbsent;
    if (frame["line"].get(line) != simdjson::SUCCESS) line = kAbsent;
    frames_.push_back({.file = TextAt(frame, "file"), .function = TextAt(frame, "name"), .line = line});
  }

  void AddProfile(const dom::element& profile) {
    const double unit_ns = NsOfUnit(TextAt(profile, "unit"));
    if (unit_ns == 0) return Leave("a profile whose unit is no time");
    ++thread_;
    builder_.NameThread(0, thread_, TextAt(profile, "name"));
    if (TextAt(profile, "type") == "sampled")
      AddSamples(profile, unit_ns);
    else if (TextAt(profile, "type") == "evented")
      AddEvents(profile, unit_ns);
    else
      Leave("a profile that is neither sampled nor evented");
  }

  void Finish() { stacks_.Finish(); }
  int64_t samples() const { return stacks_.rows(); }

 private:
  void Leave(std::string_view why) {
    builder_.Count("bad_record", Severity::kLoss, 1, kAbsent, StrCat(why, " was left out"));
  }

  void AddSamples(const dom::element& profile, double unit_ns) {
    dom::array samples, weights;
    if (profile["samples"].get(samples) != simdjson::SUCCESS || profile["weights"].get(weights) != simdjson::SUCCESS)
      return Leave("a profile without samples or weights");
    double start = 0;
    if (profile["startValue"].get(start) != simdjson::SUCCESS) start = 0;
    double at_ns = start * unit_ns;
    auto weight = weights.begin();
    for (const dom::element sample : samples) {
      double value = 0;
      if (!(weight != weights.end())) return Leave("samples behind the last weight");
      const bool good = (*weight).get(value) == simdjson::SUCCESS && value >= 0 && TakeStack(sample);
      ++weight;
      if (!good || at_ns + value * unit_ns > kMaxNs) {
        Leave("a sample that is none");
        continue;
      }
      AddSample(at_ns, value * unit_ns);
      at_ns += value * unit_ns;
    }
  }

  bool TakeStack(const dom::element& sample) {
    dom::array frames;
    stack_.clear();
    if (sample.get(frames) != simdjson::SUCCESS) return false;
    for (const dom::element frame : frames) {
      uint64_t number = 0;
      if (frame.get(number) != simdjson::SUCCESS || number >= frames_.size()) return false;
      stack_.push_back(frames_[number]);
    }
    return true;
  }

  void AddEvents(const dom::element& profile, double unit_ns) {
    dom::array events;
    if (profile["events"].get(events) != simdjson::SUCCESS) return Leave("a profile without events");
    stack_.clear();
    double last_ns = kNan;
    for (const dom::element event : events) {
      double at = 0;
      uint64_t frame = 0;
      if (event["at"].get(at) != simdjson::SUCCESS || event["frame"].get(frame) != simdjson::SUCCESS ||
          frame >= frames_.size() || std::abs(at * unit_ns) > kMaxNs) {
        Leave("an event that is none");
        continue;
      }
      if (!stack_.empty() && at * unit_ns > last_ns) AddSample(last_ns, at * unit_ns - last_ns);
      last_ns = at * unit_ns;
      if (TextAt(event, "type") == "O")
        stack_.push_back(frames_[frame]);
      else if (!stack_.empty())
        stack_.pop_back();
    }
  }

  void AddSample(double at_ns, double weight_ns) {
    stacks_.Add(stack_, {.ts_ns = std::llround(at_ns), .tid = thread_, .weight_ns = std::llround(weight_ns)});
  }

  TraceBuilder& builder_;
  HostStacks stacks_;
  std::vector<HostFrame> frames_, stack_;
  int64_t thread_ = 0;
};

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& /*context*/) {
  GAPLESS_ASSIGN(const std::string text, ReadAll(source));
  dom::parser parser;
  dom::element document;
  dom::array frames, profiles;
  if (parser.parse(text).get(document) != simdjson::SUCCESS)
    return Fail(ErrorCode::kInput, "the profile is no valid JSON: it was cut off or damaged", source.path(),
                std::string(kHint));
  if (document["shared"]["frames"].get(frames) != simdjson::SUCCESS ||
      document["profiles"].get(profiles) != simdjson::SUCCESS)
    return Fail(ErrorCode::kInput, "the profile has no frames or no profiles", source.path(), std::string(kHint));
  Writer writer(builder);
  for (const dom::element frame : frames) writer.AddFrame(frame);
  for (const dom::element profile : profiles) writer.AddProfile(profile);
  if (writer.samples() == 0)
    return Fail(ErrorCode::kInput, "the profile holds no sample that stands for a time", source.path(),
                std::string(kHint));
  writer.Finish();
  builder.info().event_count = writer.samples();
  builder.AddEnvironment("python.profile", "sample");
  return {};
}

}  // namespace

READER(speedscope) = {.name = "speedscope",
                      .help = "Samples of call stacks in speedscope's format: py-spy, austin, gapless's agent",
                      .extensions = kExtensions,
                      .sniff = SniffHead,
                      .read = Read,
                      .complete = nullptr};

}  // namespace gapless::internal::speedscope_reader
