// SPDX-License-Identifier: Apache-2.0
// Reads what torch.profiler's export_memory_timeline writes as JSON: how much device memory each category of tensors
// takes over time.
//
// Two forms: the timeline, [times in us, [bytes by category] at each], and its raw events, [[ns, action, bytes,
// category]]. Both become memory_event with a category and the total after it; neither has addresses or stacks. What
// was there before the recording has the time -1 and counts from its beginning. The file does not say of which device
// it is: export_memory_timeline is called for one.
#include <algorithm>
#include <array>
#include <vector>

#include "ingest/reader.h"
#include "ingest/readers/profile_json/document.h"

namespace gapless::internal::memory_timeline_reader {
namespace {

namespace dom = simdjson::dom;
using namespace profile_json;
constexpr std::string_view kExtensions[] = {".memory.json", ".memory.raw.json.gz"};
constexpr std::string_view kHint = "prof.export_memory_timeline(\"memory.json\", device=\"cuda:0\") writes one";
// In PyTorch's order; the last is what it cannot tell.
constexpr std::array<std::string_view, 8> kCategories = {
    "parameter", "optimizer_state", "input", "temporary", "activation", "gradient", "autograd_detail", ""};
constexpr int64_t kMaxBytes = int64_t{1} << 50;
constexpr uint8_t kOnGpu = 1;

// "[[1795909078922348, 1795909078922348, …], [[0, …" or "[[-1, 1, 65536, 0], […": nested numbers, nothing else.
Sniff SniffHead(std::string_view head) {
  if (!head.starts_with("[[")) return Sniff::kNo;
  if (head.find_first_not_of("0123456789-+., []\r\n\t") != head.npos) return Sniff::kNo;
  const size_t close = head.find(']');
  if (close == head.npos) return Sniff::kMaybe;
  const std::string_view first = head.substr(0, close);
  const auto commas = std::count(first.begin(), first.end(), ',');
  if (head.substr(close, 5).find("[[") != head.npos) return Sniff::kYes;
  return commas == 3 ? Sniff::kYes : Sniff::kNo;
}

class Events {
 public:
  explicit Events(TraceBuilder& builder) : builder_(builder), shard_(builder.NewShard()) {}

  void Bad() { builder_.Count("bad_record", Severity::kLoss, 1, kAbsent, "an entry that is no change of memory"); }

  void Add(int64_t ts_ns, size_t category, int64_t bytes) {
    if (bytes == 0) return;
    if (category >= kCategories.size() || bytes > kMaxBytes || bytes < -kMaxBytes || ts_ns < 0) return Bad();
    total_ += bytes, ++rows_;
    if (total_ > kMaxBytes || total_ < 0) return Bad();
    shard_.Add(MemoryEventRow{.device = 0,
                              .device_type = kOnGpu,
                              .action = bytes > 0 ? MemoryAction::kAlloc : MemoryAction::kFree,
                              .pid = 0,
                              .tid = 0,
                              .ts_ns = ts_ns,
                              .bytes = bytes,
                              .total_allocated = total_,
                              .category = shard_.Text(kCategories[category])});
  }
  int64_t rows() const { return rows_; }

 private:
  TraceBuilder& builder_;
  TraceBuilder::Shard& shard_;
  int64_t total_ = 0, rows_ = 0;
};

bool NumbersOf(const dom::element& element, std::vector<int64_t>& numbers) {
  dom::array array;
  numbers.clear();
  if (element.get(array) != simdjson::SUCCESS) return false;
  for (const dom::element item : array) {
    int64_t value = 0;
    if (item.get(value) != simdjson::SUCCESS) return false;
    numbers.push_back(value);
  }
  return true;
}

// The first column of sizes is always 0: the categories begin behind it.
void ReadTimeline(const std::vector<int64_t>& times, const dom::array& sizes, Events& events) {
  std::vector<int64_t> before(kCategories.size() + 1), now;
  size_t at = 0;
  for (const dom::element element : sizes) {
    const bool good = NumbersOf(element, now) && now.size() == before.size() && at < times.size() && times[at] >= 0 &&
                      times[at] < INT64_MAX / 1000;
    if (!good) {
      events.Bad(), ++at;
      continue;
    }
    // Changes that shrink are taken off first, so that a tensor that changes its category is not counted twice.
    for (const bool grows : {false, true})
      for (size_t i = 1; i < now.size(); ++i)
        if ((now[i] > before[i]) == grows) events.Add(times[at] * 1000, i - 1, now[i] - before[i]);
    before = now, ++at;
  }
}

// Actions: 1 is what was there before, 2 made, 3 became another category (two events, less and more), 4 gone.
void ReadRaw(const dom::array& rows, Events& events) {
  std::vector<std::vector<int64_t>> all;
  std::vector<int64_t> numbers;
  int64_t first = INT64_MAX;
  for (const dom::element row : rows) {
    if (!NumbersOf(row, numbers) || numbers.size() != 4 || numbers[3] < 0) {
      events.Bad();
      continue;
    }
    if (numbers[0] >= 0) first = std::min(first, numbers[0]);
    all.push_back(numbers);
  }
  if (first == INT64_MAX) first = 0;
  for (const auto& row : all) events.Add(row[0] < 0 ? first : row[0], static_cast<size_t>(row[3]), row[2]);
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& /*context*/) {
  Document document;
  GAPLESS_TRY(Parse(source, "memory timeline", kHint, document));
  Events events(builder);
  dom::array top, sizes;
  std::vector<int64_t> times;
  const bool is_list = document.root.get(top) == simdjson::SUCCESS;
  dom::element second;
  const bool is_timeline = is_list && top.size() == 2 && NumbersOf(top.at(0).value(), times) &&
                           top.at(1).get(second) == simdjson::SUCCESS && second.get(sizes) == simdjson::SUCCESS &&
                           (sizes.size() == 0 || sizes.at(0).value().is_array());
  if (is_timeline)
    ReadTimeline(times, sizes, events);
  else if (is_list)
    ReadRaw(top, events);
  if (events.rows() == 0)
    return Fail(ErrorCode::kInput, "the memory timeline holds no change of memory", source.path(), std::string(kHint));
  builder.info().framework = "pytorch";
  builder.info().event_count = events.rows();
  builder.AddEnvironment("memory.timeline", is_timeline ? "timeline" : "raw");
  return {};
}

// Times are of the wall clock.
void Complete(Trace& trace) {
  constexpr int64_t kNsOfYear = int64_t{365} * 86'400 * 1'000'000'000;
  if (trace.memory_events.size() > 0 && trace.info.origin_ns > kNsOfYear)
    trace.info.start_unix_ns = trace.info.origin_ns;
}

}  // namespace

READER(memory_timeline) = {.name = "memory_timeline",
                           .help = "Device memory by category over time (torch.profiler, export_memory_timeline)",
                           .extensions = kExtensions,
                           .sniff = SniffHead,
                           .read = Read,
                           .complete = Complete};

}  // namespace gapless::internal::memory_timeline_reader
