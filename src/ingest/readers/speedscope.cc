// SPDX-License-Identifier: Apache-2.0
// Reads profiles in speedscope's format, as py-spy (--format speedscope), austin2speedscope and our agent write them:
// samples of call stacks become rows of sample and stack, and their sums rows of host_function.
//
// A "sampled" profile has stacks and how long each stands for; an "evented" one when each frame was entered and left,
// of which the time between two events is a sample. Profiles whose unit is no time (bytes, counts) are counted and left
// out. Each profile is a thread. The document is held in memory, up to 1 GiB.
#include <simdjson.h>

#include <cmath>
#include <map>
#include <set>

#include "base/strings.h"
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

struct Sums {
  int64_t self_ns = 0, total_ns = 0;
};

class Writer {
 public:
  explicit Writer(TraceBuilder& builder) : builder_(builder), shard_(builder.NewShard()) {}

  void AddFrame(const dom::element& frame) {
    int64_t line = kAbsent;
    if (frame["line"].get(line) != simdjson::SUCCESS) line = kAbsent;
    frames_.push_back({TextAt(frame, "file"), TextAt(frame, "name"), line});
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

  void Finish() {
    for (const auto& [frame, sums] : sums_) {
      const Frame& of = frames_[frame];
      builder_.AddHostFunction(
          {.file = of.file, .line = of.line, .function = of.name, .self_ns = sums.self_ns, .total_ns = sums.total_ns});
    }
  }
  int64_t samples() const { return samples_; }

 private:
  struct Frame {
    std::string_view file, name;
    int64_t line = kAbsent;
  };

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
      stack_.push_back(number);
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
        stack_.push_back(frame);
      else if (!stack_.empty())
        stack_.pop_back();
    }
  }

  // The outermost frame comes first. A function that stands several times in a stack counts once.
  void AddSample(double at_ns, double weight_ns) {
    const auto ns = static_cast<int64_t>(std::llround(weight_ns));
    if (stack_.empty() || ns == 0) return;
    ++samples_;
    StackId at{};
    std::set<uint64_t> seen;
    for (const uint64_t frame : stack_) {
      const Frame& of = frames_[frame];
      at = builder_.AddFrame({.parent = at, .file = of.file, .line = of.line, .function = of.name});
      if (seen.insert(frame).second) sums_[frame].total_ns += ns;
    }
    sums_[stack_.back()].self_ns += ns;
    shard_.Add(SampleRow{.ts_ns = std::llround(at_ns), .tid = thread_, .stack = at, .weight_ns = ns});
  }

  TraceBuilder& builder_;
  TraceBuilder::Shard& shard_;
  std::vector<Frame> frames_;
  std::vector<uint64_t> stack_;
  std::map<uint64_t, Sums> sums_;  // sums by frame
  int64_t thread_ = 0, samples_ = 0;
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
