// SPDX-License-Identifier: Apache-2.0
// A report names no process by the number that nsys has for it, so all of a report are one process; calls say which
// threads there are. Sizes are printed in MB with three digits, the rate with as many: rate times duration gives the
// size more exactly.
#include "ingest/readers/nsys_stats/trace_rows.h"

#include <charconv>
#include <cmath>

#include "base/strings.h"
#include "ingest/readers/nsys_stats/names.h"

namespace gapless::internal::nsys_stats {
namespace {

constexpr int64_t kPushPop = 59;
constexpr double kMega = 1e6;

// Reads cells of one row by the titles of their columns.
class Cells {
 public:
  Cells(const Table& table, const std::vector<std::string>& row) : table_(table), row_(row) {}

  std::string_view Text(std::initializer_list<std::string_view> titles) const {
    const int place = table_.PlaceOf(titles);
    return place < 0 ? std::string_view() : std::string_view(row_[static_cast<size_t>(place)]);
  }
  int64_t Whole(std::initializer_list<std::string_view> titles) const {
    const std::string_view text = Text(titles);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty() ? value : kAbsent;
  }
  int32_t Small(std::initializer_list<std::string_view> titles) const {
    const int64_t value = Whole(titles);
    return value < 0 || value > INT32_MAX ? kAbsent32 : static_cast<int32_t>(value);
  }
  double Real(std::initializer_list<std::string_view> titles) const { return NumberIn(Text(titles)); }
  // A time in ns, exactly where the report gives whole ns.
  int64_t Time(std::initializer_list<std::string_view> titles) const {
    const int place = table_.PlaceOf(titles);
    if (place < 0) return kAbsent;
    const double unit = NsIn(table_.units[static_cast<size_t>(place)]);
    if (const int64_t whole = Whole(titles); whole != kAbsent && unit == 1) return whole;
    const double value = Real(titles) * unit;
    return unit > 0 && std::abs(value) < 9e18 ? std::llround(value) : kAbsent;
  }

 private:
  const Table& table_;
  const std::vector<std::string>& row_;
};

int64_t Sum(int64_t a, int64_t b) {
  int64_t sum = kAbsent;
  return a == kAbsent || b == kAbsent || __builtin_add_overflow(a, b, &sum) ? kAbsent : sum;
}

int64_t BytesOf(const Cells& cells, int64_t dur_ns) {
  const double mb = cells.Real({"bytes"}), rate = cells.Real({"throughput", "thru"});
  if (rate > 0 && dur_ns > 0) return std::llround(rate * kMega * static_cast<double>(dur_ns) / 1e9);
  return mb > 0 && mb < 1e9 ? std::llround(mb * kMega) : kAbsent;
}

// The size of shared memory of a kernel: 0.033 is 33 kB; a block is counted in bytes.
int32_t SharedOf(double mb) { return mb >= 0 && mb < 1e3 ? static_cast<int32_t>(std::llround(mb * kMega)) : kAbsent32; }

int64_t Global(int64_t pid, int64_t tid) {
  return (pid < 0 ? 0 : (pid & 0xFFFFFF) << 24) | (tid < 0 ? 0 : tid & 0xFFFFFF);
}

// "  256    1    1", of one of three sides.
void ReadSides(std::string_view text, int32_t (&sides)[3]) {
  size_t side = 0;
  for (const std::string_view part : Split(text, ' ')) {
    int32_t value = 0;
    if (part.empty() || side == 3) continue;
    if (std::from_chars(part.data(), part.data() + part.size(), value).ec != std::errc()) return;
    sides[side++] = value;
  }
}

}  // namespace

int64_t TraceRows::TextOf(std::string_view text) {
  const auto [known, first] = texts_.try_emplace(std::string(text), static_cast<int64_t>(texts_.size()));
  if (first) facts_.texts.Copy(known->second, text);
  return known->second;
}

// "NVIDIA RTX A4500 (0)" is the device 0; a name without a number one more device.
int32_t TraceRows::DeviceOf(std::string_view device) {
  if (device.empty()) return 0;
  const auto known = devices_.find(device);
  if (known != devices_.end()) return known->second;
  const size_t open = device.rfind('(');
  auto number = static_cast<int32_t>(devices_.size());
  std::string_view name = device;
  if (open != device.npos && device.ends_with(')') &&
      std::from_chars(device.data() + open + 1, device.data() + device.size() - 1, number).ec == std::errc())
    name = device.substr(0, open > 0 && device[open - 1] == ' ' ? open - 1 : open);
  else
    std::from_chars(device.data(), device.data() + device.size(), number);
  if (number < 0 || number > 1024) number = 0;
  gpus_.Add({.id = number, .name = std::string(name)});
  return devices_.emplace(std::string(device), number).first->second;
}

void TraceRows::AddOp(const Table& table, const Row& row) {
  const Cells cells(table, row);
  const int64_t dur_ns = cells.Time({"duration"});
  nsys::Work work{.start = cells.Time({"start"}),
                  .device = DeviceOf(cells.Text({"device"})),
                  .context = cells.Small({"ctx"}),
                  .stream = cells.Whole({"strm"}),
                  .global_pid = 0,
                  .correlation = cells.Whole({"corrid"})};
  work.end = Sum(work.start, dur_ns);
  const std::string_view name = cells.Text({"name"});
  const int64_t operation = IsMemoryName(name) ? OperationOf(name) : 0;
  if (operation < 0)
    return meaning_.Add(nsys::Memset{
        .work = work, .bytes = BytesOf(cells, dur_ns), .memory = MemoryKindOf(cells.Text({"dstmemkd", "srcmemkd"}))});
  if (IsMemoryName(name))
    return meaning_.Add(nsys::Copy{.work = work,
                                   .bytes = BytesOf(cells, dur_ns),
                                   .operation = operation,
                                   .from = MemoryKindOf(cells.Text({"srcmemkd"})),
                                   .to = MemoryKindOf(cells.Text({"dstmemkd"}))});
  nsys::Kernel kernel{.work = work, .name = TextOf(name), .registers = cells.Small({"regtrd"})};
  kernel.grid[0] = cells.Small({"grdx"}), kernel.grid[1] = cells.Small({"grdy"}),
  kernel.grid[2] = cells.Small({"grdz"});
  kernel.block[0] = cells.Small({"blkx"}), kernel.block[1] = cells.Small({"blky"});
  kernel.block[2] = cells.Small({"blkz"});
  kernel.static_shared = SharedOf(cells.Real({"stcsmem"})), kernel.dynamic_shared = SharedOf(cells.Real({"dymsmem"}));
  meaning_.Add(kernel);
}

void TraceRows::AddCall(const Table& table, const Row& row) {
  const Cells cells(table, row);
  const std::string_view name = cells.Text({"name"});
  const int64_t start = cells.Time({"start"});
  const bool driver = !name.starts_with("cuda");
  meaning_.Add(nsys::Call{.start = start,
                          .end = Sum(start, cells.Time({"duration"})),
                          .global_tid = Global(0, cells.Whole({"tid"})),
                          .correlation = cells.Whole({"corrid"}),
                          .name = TextOf(name),
                          .event_class = driver ? 1 : 0});
}

// A launch with its kernel: the two are joined by the number of the row.
void TraceRows::AddLaunch(const Table& table, const Row& row) {
  const Cells cells(table, row);
  const int64_t correlation = ++launches_, start = cells.Time({"apistart"});
  const std::string_view call = cells.Text({"apifunction"});
  meaning_.Add(nsys::Call{.start = start,
                          .end = Sum(start, cells.Time({"apidur"})),
                          .global_tid = Global(0, cells.Whole({"tid"})),
                          .correlation = correlation,
                          .name = TextOf(call),
                          .event_class = call.starts_with("cuda") ? 0 : 1});
  nsys::Kernel kernel{.work = {.start = cells.Time({"kernelstart"}),
                               .device = DeviceOf(cells.Text({"devid"})),
                               .global_pid = 0,
                               .correlation = correlation},
                      .name = TextOf(cells.Text({"kernelname"}))};
  kernel.work.end = Sum(kernel.work.start, cells.Time({"kerneldur"}));
  ReadSides(cells.Text({"gridxyz"}), kernel.grid), ReadSides(cells.Text({"blockxyz"}), kernel.block);
  meaning_.Add(kernel);
}

void TraceRows::AddRange(const Table& table, const Row& row) {
  const Cells cells(table, row);
  meaning_.Add(nsys::Range{.start = cells.Time({"start"}),
                           .end = cells.Time({"end"}),
                           .global_tid = Global(0, cells.Whole({"tid"})),
                           .type = kPushPop,
                           .text = cells.Text({"name"})});
}

void TraceRows::Add(const Table& table) {
  const bool launches = table.form == Form::kExecTrace;
  const bool ops = table.form == Form::kGpuTrace || launches, calls = table.form == Form::kApiTrace || launches;
  const bool ranges = table.form == Form::kRangeTrace;
  if ((!ops && !calls && !ranges) || table.rows.empty()) return;
  if ((ops && has_ops_) || (calls && has_calls_) || (ranges && has_ranges_)) return void(++others_);
  has_ops_ = has_ops_ || ops, has_calls_ = has_calls_ || calls, has_ranges_ = has_ranges_ || ranges;
  for (const Row& row : table.rows) {
    ++rows_;
    if (launches) AddLaunch(table, row);
    if (table.form == Form::kGpuTrace) AddOp(table, row);
    if (table.form == Form::kApiTrace) AddCall(table, row);
    if (ranges) AddRange(table, row);
  }
}

void TraceRows::Finish(TraceBuilder& builder) {
  gpus_.Give(builder);
  nsys::Meaning::AddCalls({&meaning_});
  nsys::Meaning::Finish({&meaning_}, builder);
}

}  // namespace gapless::internal::nsys_stats
