// SPDX-License-Identifier: Apache-2.0
// Reads samples of GPUs that people's own tools took: `nvidia-smi --query-gpu=… --format=csv`, `nvidia-smi dmon`,
// `dcgmi dmon`.
//
// Every number becomes a row of `counter` under the name that our own telemetry gives it
// (docs/formats/telemetry.md), so analyses read all of them alike. nvidia-smi prints local times: they are read in
// the time zone of this machine. Without times a row of a device is a second after the one before, which is the
// default interval of these tools; trace/run.cc then lets the samples begin with the recording.
//
// A line is a head if it names columns that are known, so a table may follow other output, and dmon may repeat its
// head. The file is read into memory, up to 256 MiB; what lies behind is not read.
#include <map>

#include "base/strings.h"
#include "base/timestamp.h"
#include "ingest/dead_counters.h"
#include "ingest/reader.h"
#include "ingest/readers/gpu_samples/columns.h"
#include "ingest/readers/gpu_samples/table_form.h"
#include "trace/formats.h"

namespace gapless::internal::gpu_samples_reader {
namespace {

using gpu_samples::CellsOf;
using gpu_samples::Column;
using gpu_samples::Form;
using gpu_samples::FormOf;
using gpu_samples::WordsOf;
using Kind = gpu_samples::Column::Kind;

constexpr std::string_view kExtensions[] = {".gpu.csv", "nvidia-smi.csv", "nvidia_smi.csv", "gpu_usage.csv", ".dmon",
                                            "dmon.txt", "dmon.log",       "dcgm.txt",       "dcgm.log"};
// Bytes of text that are read at most.
constexpr size_t kMaxBytes = size_t{1} << 28;
constexpr int64_t kSecondNs = 1'000'000'000;

Sniff SniffHead(std::string_view head) {
  constexpr size_t kMaxLines = 40;  // maximum number of lines of a log before the table
  size_t lines = 0;
  for (const std::string_view line : Split(head, '\n')) {
    if (FormOf(line) != Form::kNone) return Sniff::kYes;
    if (++lines == kMaxLines) break;
  }
  return Sniff::kNo;
}

// A Samples object reads a file line by line and adds a counter for each number. The last head that was seen says
// what the columns are.
class Samples {
 public:
  explicit Samples(TraceBuilder& builder) : builder_(builder), shard_(builder.NewShard()) {}

  void TakeLine(std::string_view line) {
    while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (const Form form = FormOf(line); form != Form::kNone) return TakeHead(form, line);
    if (form_ == Form::kNone || line.find_first_not_of(" \t") == line.npos) return;
    if (form_ == Form::kQuery) return TakeCells(CellsOf(line));
    const std::vector<std::string> words = WordsOf(line);
    if (line.find('#') < 4) return TakeUnits(words);
    TakeWords(words);
  }

  void Finish() {
    for (auto& [number, device] : devices_) builder_.AddDevice(std::move(device));
    builder_.info().event_count = samples_;
    builder_.Count(
        "contradictory_rows", Severity::kLoss, contradictory_, kAbsent,
        "rows with another number of fields than their header, or without a device or a time, were left out");
    if (timeless_)
      builder_.Count("no_clock", Severity::kInfo, 1, kAbsent,
                     "the file has no times: a second is assumed between the samples of a GPU");
  }
  int64_t samples() const { return samples_; }
  bool has_table() const { return form_ != Form::kNone; }

 private:
  void TakeHead(Form form, std::string_view line) {
    form_ = form, columns_.clear();
    names_ = form == Form::kQuery ? CellsOf(line) : WordsOf(line);
    for (const std::string& name : names_)
      columns_.push_back(form == Form::kQuery  ? gpu_samples::QueryColumn(name)
                         : form == Form::kDmon ? gpu_samples::DmonColumn(name, "")
                                               : gpu_samples::DcgmColumn(name));
  }

  // The line below the head of dmon: "# Idx     W     C".
  void TakeUnits(const std::vector<std::string>& words) {
    if (form_ != Form::kDmon || words.size() != names_.size()) return;
    for (size_t i = 0; i < names_.size(); ++i) columns_[i] = gpu_samples::DmonColumn(names_[i], words[i]);
  }

  // "GPU 0  0.912 …" of dcgmi; slices of a GPU ("GPU-I 1", "GPU-CI") are left out: their sum is not the GPU's value.
  void TakeWords(std::vector<std::string> words) {
    if (form_ == Form::kDmon) return TakeCells(words);
    if (!words.empty() && words[0].starts_with("GPU-")) return;
    if (words.size() == columns_.size() + 1 && words[0] == "GPU") words.erase(words.begin());
    if (words.size() == 1) return;  // "ID", the second line of the head
    if (words.size() != columns_.size()) return void(++contradictory_);
    columns_[0].kind = Kind::kDevice;
    TakeCells(words);
  }

  // Takes one row of values. The device and the time must be known first, wherever their columns stand. Rows
  // without a device column are about device 0. A row whose time cannot be read is left out.
  void TakeCells(const std::vector<std::string>& cells) {
    if (cells.size() != columns_.size()) return void(++contradictory_);
    int32_t device = 0;
    std::string date;
    int64_t ts_ns = kAbsent;
    bool has_time = false, has_device = false;
    for (size_t i = 0; i < cells.size(); ++i) {
      const Kind kind = columns_[i].kind;
      if (kind == Kind::kDevice && !has_device) {
        has_device = true;
        const auto number = gpu_samples::MaskOf(cells[i]);
        if (!number || *number > 4096) return void(++contradictory_);
        device = static_cast<int32_t>(*number);
      }
      if (kind == Kind::kDate) date = cells[i];
      has_time = has_time || kind == Kind::kTimestamp || kind == Kind::kTime;
      if (kind == Kind::kTimestamp) ts_ns = ParseLoggedTime(cells[i]).value_or(kAbsent);
      if (kind == Kind::kTime) ts_ns = ParseLoggedTime(StrCat(date, " ", cells[i])).value_or(kAbsent);
    }
    if (has_time && ts_ns == kAbsent) return void(++contradictory_);
    if (!has_time) ts_ns = rows_[device] * kSecondNs, timeless_ = true;
    ++rows_[device];
    AddRow(cells, device, ts_ns);
  }

  // Adds the values of a row, and what it says about the device. A mask of throttle reasons becomes a flag per
  // reason.
  void AddRow(const std::vector<std::string>& cells, int32_t device, int64_t ts_ns) {
    DeviceRow& described = devices_[device];
    described.device = device, described.vendor = Vendor::kNvidia;
    for (size_t i = 0; i < cells.size(); ++i) {
      const Column& column = columns_[i];
      if (column.kind == Kind::kDeviceName) described.name = Trimmed(cells[i]);
      if (column.kind == Kind::kUuid) described.uuid = Trimmed(cells[i]);
      if (column.kind == Kind::kThrottleMask) {
        if (const auto mask = gpu_samples::MaskOf(cells[i]))
          for (const auto& reason : gpu_samples::kThrottleReasons)
            Add(StrCat("gpu.throttle.", reason.name), "flag", device, ts_ns, (*mask & reason.bit) != 0 ? 1 : 0);
      }
      if (column.kind != Kind::kValue) continue;
      if (const auto value = gpu_samples::ValueOf(cells[i], column))
        Add(column.series, column.unit, device, ts_ns, *value);
    }
  }

  static std::string Trimmed(const std::string& text) {
    const size_t first = text.find_first_not_of(' ');
    return first == text.npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
  }

  void Add(std::string_view series, std::string_view unit, int32_t device, int64_t ts_ns, double value) {
    shard_.Add(CounterRow{
        .name = shard_.Text(series), .unit = shard_.Text(unit), .device = device, .ts_ns = ts_ns, .value = value});
    ++samples_;
  }

  TraceBuilder& builder_;
  TraceBuilder::Shard& shard_;
  Form form_ = Form::kNone;
  std::vector<std::string> names_;
  std::vector<Column> columns_;
  std::map<int32_t, DeviceRow> devices_;
  std::map<int32_t, int64_t> rows_;
  int64_t samples_ = 0, contradictory_ = 0;
  bool timeless_ = false;
};

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(auto stream, source.Open());
  std::string text;
  constexpr size_t kPiece = size_t{1} << 18;
  for (bool more = true; more && text.size() < kMaxBytes;) {
    if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
    const size_t before = text.size();
    text.resize(before + kPiece);
    auto got = stream->Read(text.data() + before, kPiece);
    if (!got)
      builder.Count("damaged_input", Severity::kError, 1, static_cast<int64_t>(before),
                    StrCat("reading stopped: ", got.error().message));
    more = got && *got > 0;
    text.resize(before + (got ? *got : 0));
  }
  if (text.size() >= kMaxBytes)
    builder.Count("overlong_input", Severity::kError, 1, static_cast<int64_t>(text.size()),
                  "the file is longer than 256 MiB: samples behind that are not read");
  Samples samples(builder);
  for (const std::string_view line : Split(text, '\n')) samples.TakeLine(line);
  if (!samples.has_table() || samples.samples() == 0)
    return Fail(ErrorCode::kInput, "there is no sample of a GPU in this file", source.path(),
                "nvidia-smi --query-gpu=timestamp,index,utilization.gpu,memory.used --format=csv -l 1");
  samples.Finish();
  return {};
}

// Without a clock the samples have no place in time.
void Complete(Trace& trace) {
  DropDeadCounters(trace);
  for (size_t row = 0; row < trace.read_stats.size(); ++row)
    if (trace.Text(trace.read_stats.kind[row]) == "no_clock") return;
  if (trace.counters.size() > 0) trace.info.start_unix_ns = trace.info.origin_ns;
}

}  // namespace

READER(gpu_samples) = {.name = kGpuSamplesFormat,
                       .help = "GPUs as sampled by nvidia-smi (--query-gpu as CSV, dmon) or dcgmi dmon",
                       .extensions = kExtensions,
                       .sniff = SniffHead,
                       .read = Read,
                       .complete = Complete};

}  // namespace gapless::internal::gpu_samples_reader
