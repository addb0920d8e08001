// SPDX-License-Identifier: Apache-2.0
// Reads what memray prints of its recordings: `memray stats --json`, `memray transform csv` and `transform gprof2dot`.
//
// The numbers of stats are sums over the whole run: of the places that allocated most, and how much in all. A csv and a
// gprof2dot file hold what was in use at the peak, stack by stack (or, with --leaks, what was never freed). Lines get
// bytes and allocations; none of these has times. A file is recognised by its content, memray's own .bin by its name.
#include <charconv>
#include <map>
#include <string>
#include <vector>

#include "ingest/reader.h"
#include "ingest/readers/profile_json/document.h"

namespace gapless::internal::memray_reader {
namespace {

namespace dom = simdjson::dom;
using namespace profile_json;
constexpr std::string_view kExtensions[] = {".memray.json", ".memray.csv"};
constexpr std::string_view kHint = "python -m memray run -o m.bin train.py; python -m memray stats --json m.bin";
constexpr std::string_view kCsvHead = "allocator,num_allocations,size,tid,thread_name,stack_trace";

Sniff SniffHead(std::string_view head) {
  if (head.starts_with(kCsvHead)) return Sniff::kYes;
  const auto has = [&](std::string_view part) { return head.find(part) != head.npos; };
  if (!head.starts_with("{")) return Sniff::kNo;
  if (has("\"total_num_allocations\"") && has("\"total_bytes_allocated\"")) return Sniff::kYes;
  return has("\"costs\"") && has("\"Memory\"") && has("\"callchain\"") ? Sniff::kYes : Sniff::kNo;
}

int64_t NumberOf(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size() && value >= 0 ? value : kAbsent;
}

struct Place {
  std::string file{}, function{};
  int64_t line = kAbsent;
  auto operator<=>(const Place&) const = default;
};

// "function:file:line"; files of Windows hold a colon, too.
Place PlaceOf(std::string_view text) {
  const size_t first = text.find(':'), last = text.rfind(':');
  if (first == text.npos || last == first) return {.function = std::string(text)};
  return {.file = std::string(text.substr(first + 1, last - first - 1)),
          .function = std::string(text.substr(0, first)),
          .line = NumberOf(text.substr(last + 1))};
}

struct Sums {
  int64_t bytes = kAbsent, allocations = kAbsent;
};

class Places {
 public:
  void Add(const Place& place, int64_t bytes, int64_t allocations) {
    Sums& sums = places_[place];
    const auto add = [](int64_t& sum, int64_t value) {
      constexpr int64_t kMost = int64_t{1} << 60;
      if (value != kAbsent && value < kMost) sum = std::min(kMost, (sum == kAbsent ? 0 : sum) + value);
    };
    add(sums.bytes, bytes), add(sums.allocations, allocations);
  }
  // A place with a line is a row about that line.
  void Give(TraceBuilder& builder) const {
    for (const auto& [place, sums] : places_) {
      const bool is_line = place.line != kAbsent && !place.file.empty();
      HostFunctionRow row{.file = place.file, .line = place.line, .calls = sums.allocations};
      row.bytes = sums.bytes;
      if (!is_line) row.function = place.function;
      builder.AddHostFunction(row);
    }
    builder.info().event_count = static_cast<int64_t>(places_.size());
  }
  bool empty() const { return places_.empty(); }

 private:
  std::map<Place, Sums> places_;
};

void ReadStats(const dom::element& root, TraceBuilder& builder, Places& places) {
  for (const dom::element entry : ArrayAt(root, "top_allocations_by_size"))
    places.Add(PlaceOf(TextAt(entry, "location")), IntAt(entry, "size"), kAbsent);
  for (const dom::element entry : ArrayAt(root, "top_allocations_by_count"))
    places.Add(PlaceOf(TextAt(entry, "location")), kAbsent, IntAt(entry, "count"));
  const auto fact = [&](std::string_view key, int64_t value) {
    if (value != kAbsent) builder.AddEnvironment(key, StrCat(value));
  };
  fact("memray.allocated_bytes", IntAt(root, "total_bytes_allocated"));
  fact("memray.allocations", IntAt(root, "total_num_allocations"));
  if (dom::element about; root["metadata"].get(about) == simdjson::SUCCESS) {
    fact("memray.peak_bytes", IntAt(about, "peak_memory"));
    builder.info().pid = IntAt(about, "pid");
  }
}

// Events have a stack of numbers of functions, the innermost first, and bytes.
void ReadGprof(const dom::element& root, TraceBuilder& builder, Places& places) {
  std::vector<Place> functions;
  for (const dom::element function : ArrayAt(root, "functions"))
    functions.push_back(
        {.file = std::string(TextAt(function, "module")), .function = std::string(TextAt(function, "name"))});
  for (const dom::element event : ArrayAt(root, "events")) {
    uint64_t number = 0;
    int64_t bytes = kAbsent;
    for (const dom::element cost : ArrayAt(event, "cost"))
      if (bytes == kAbsent && cost.get(bytes) != simdjson::SUCCESS) bytes = kAbsent;
    const std::vector<dom::element> chain = ArrayAt(event, "callchain");
    const auto innermost = chain.begin();
    const bool known = innermost != chain.end() && innermost->get(number) == simdjson::SUCCESS &&
                       number < functions.size() && bytes != kAbsent && bytes >= 0;
    if (known)
      places.Add(functions[number], bytes, kAbsent);
    else
      builder.Count("bad_record", Severity::kLoss, 1, kAbsent, "an entry that is no allocation");
  }
}

// "MALLOC,1,1340,1,0x1,function;file;line|function;file;line": the innermost frame first.
void ReadCsv(std::string_view text, TraceBuilder& builder, Places& places) {
  for (std::string_view line : Split(text.substr(kCsvHead.size()), '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    std::vector<std::string_view> cells;
    for (size_t from = 0; cells.size() < 5 && from < line.size();) {
      const size_t comma = std::min(line.find(',', from), line.size());
      cells.push_back(line.substr(from, comma - from)), from = comma + 1;
      if (cells.size() == 5) cells.push_back(from < line.size() ? line.substr(from) : std::string_view());
    }
    const int64_t bytes = cells.size() == 6 ? NumberOf(cells[2]) : kAbsent;
    if (bytes == kAbsent) {
      builder.Count("bad_record", Severity::kLoss, 1, kAbsent, "a line that is no allocation");
      continue;
    }
    const std::string_view frame = cells[5].substr(0, cells[5].find('|'));
    const size_t last = frame.rfind(';'), first = frame.find(';');
    Place place{.function = std::string(frame)};
    if (first != frame.npos && last > first)
      place = {.file = std::string(frame.substr(first + 1, last - first - 1)),
               .function = std::string(frame.substr(0, first)),
               .line = NumberOf(frame.substr(last + 1))};
    places.Add(place, bytes, NumberOf(cells[1]));
  }
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& /*context*/) {
  Places places;
  GAPLESS_ASSIGN(const std::string text, ReadAll(source));
  if (text.starts_with(kCsvHead)) {
    ReadCsv(text, builder, places);
  } else {
    Document document;
    GAPLESS_TRY(Parse(source, "summary of memray", kHint, document));
    document.root["total_num_allocations"].error() == simdjson::SUCCESS ? ReadStats(document.root, builder, places)
                                                                        : ReadGprof(document.root, builder, places);
  }
  if (places.empty())
    return Fail(ErrorCode::kInput, "the summary of memray holds no allocation", source.path(), std::string(kHint));
  places.Give(builder);
  builder.AddEnvironment("python.profile", "memray");
  return {};
}

}  // namespace

READER(memray) = {.name = "memray",
                  .help = "Memory of a Python program by place: memray stats --json, transform csv or gprof2dot",
                  .extensions = kExtensions,
                  .sniff = SniffHead,
                  .read = Read,
                  .complete = nullptr};

}  // namespace gapless::internal::memray_reader
