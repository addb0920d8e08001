// SPDX-License-Identifier: Apache-2.0
// Reads what NCCL's and RCCL's Inspector plugin writes: JSON objects, one per line or side by side, one per collective
// or message that was done. Flat objects, as forwarders write them, are read too.
//
// The file says how long each took and when a batch of them was written, not when each began; with
// NCCL_INSPECTOR_DUMP_VERBOSE=1 it has the times of events, too. Without those, rows stand in their order, each behind
// the one before, none before the time of its batch less its duration.
//
// The sizes in the file are those of NCCL's calls: of an all_gather and a reduce_scatter the share of one rank. Rows
// have the size that the formulas of bandwidth take, which the plugin's own bandwidths follow.
#include <simdjson.h>

#include <cmath>
#include <map>

#include "base/strings.h"
#include "ingest/json_objects.h"
#include "ingest/names.h"
#include "ingest/random_access.h"
#include "ingest/reader.h"

namespace gapless::internal::nccl_inspector_reader {
namespace {

namespace dom = simdjson::dom;
using Value = simdjson::simdjson_result<dom::element>;

constexpr std::string_view kExtensions[] = {".inspector.log", ".inspector.jsonl", ".nccl.jsonl"};
constexpr std::string_view kHint =
    "NCCL_PROFILER_PLUGIN=libnccl-profiler-inspector.so NCCL_INSPECTOR_ENABLE=1 NCCL_INSPECTOR_DUMP_DIR=logs torchrun "
    "…";
constexpr int64_t kMaxUs = int64_t{1} << 51;  // the year 2041
constexpr int64_t kMaxSize = int64_t{1} << 50, kMaxRanks = 1 << 24;

Sniff SniffHead(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == head.npos || (head[first] != '{' && head[first] != '[')) return Sniff::kNo;
  const auto has = [&](std::string_view part) { return head.find(part) != head.npos; };
  if (has("\"coll_exec_time_us\"") || has("\"p2p_exec_time_us\"")) return Sniff::kYes;
  return has("\"inspector_output_format_version\"") ? Sniff::kYes : Sniff::kNo;
}

int64_t IntOf(const Value& value) {
  int64_t number = 0;
  double real = 0;
  if (value.get(number) == simdjson::SUCCESS) return number;
  return value.get(real) == simdjson::SUCCESS && std::abs(real) < 1e18 ? std::llround(real) : kAbsent;
}

std::string_view TextOf(const Value& value) {
  std::string_view text;
  return value.get(text) == simdjson::SUCCESS ? text : std::string_view();
}

class Writer {
 public:
  explicit Writer(TraceBuilder& builder) : builder_(builder), shard_(builder.NewShard()) {}

  void Take(const dom::element& object) {
    const Value header = object["header"].is_object() ? Value(object["header"]) : Value(dom::element(object));
    const Value metadata = object["metadata"].is_object() ? Value(object["metadata"]) : Value(dom::element(object));
    TakeFacts(header, metadata);
    dropped_ += std::max<int64_t>(IntOf(object["dump_stats"]["dropped_since_last_dump"]), 0);
    bool any = object["dump_stats"].is_object();
    for (const std::string_view what : {"coll", "p2p"}) {
      const Value perf = object[StrCat(what, "_perf")];
      if (!perf.is_object()) continue;
      any = true;
      if (!TakeCall(header, metadata, perf, what)) ++bad_;
    }
    if (!any) ++bad_;
  }

  void Finish() {
    for (const auto& [call, count] : calls_) {
      CommCallRow row{.kind = call.kind, .calls = count};
      row.bytes = call.bytes, row.ranks = call.ranks, row.algorithm = call.algorithm, row.protocol = call.protocol;
      builder_.Add(row);
    }
    builder_.Count("bad_record", Severity::kLoss, bad_, kAbsent, "objects without a collective, its size or its time");
    builder_.Count("dropped_events", Severity::kLoss, dropped_, kAbsent,
                   "collectives that the plugin dropped, because its ring was full");
    builder_.Count("no_start_times", Severity::kInfo, unplaced_, kAbsent,
                   "the file does not say when collectives began: they stand in their order");
    TraceInfo& info = builder_.info();
    info.event_count = rows_;
    info.world_size = world_size_;
    if (rank_ != kAbsent && !ranks_differ_) info.rank = rank_;
  }
  int64_t rows() const { return rows_; }
  int64_t bad() const { return bad_; }

 private:
  struct Call {
    std::string kind, algorithm, protocol;
    int64_t bytes = kAbsent, ranks = kAbsent;
    auto operator<=>(const Call&) const = default;
  };

  // The rank in the largest communicator is the rank of the process.
  void TakeFacts(const Value& header, const Value& metadata) {
    const int64_t ranks = IntOf(header["n_ranks"]), rank = IntOf(header["rank"]), nodes = IntOf(header["nnodes"]);
    if (ranks > 0 && ranks < kMaxRanks && rank >= 0 && rank < ranks) {
      if (ranks > world_size_) world_size_ = ranks, rank_ = rank, ranks_differ_ = false;
      if (ranks == world_size_ && rank != rank_) ranks_differ_ = true;
    }
    if (nodes > 0) builder_.AddEnvironment("nccl.nodes", StrCat(nodes));
    if (const std::string_view host = TextOf(metadata["hostname"]); !host.empty())
      builder_.AddEnvironment("nccl.hosts", host);
    if (const std::string_view version = TextOf(metadata["inspector_output_format_version"]); !version.empty())
      builder_.AddEnvironment("nccl.inspector_format", version);
  }

  bool TakeCall(const Value& header, const Value& metadata, const Value& perf, std::string_view what) {
    const auto at = [&](std::string_view key) { return Value(perf[StrCat(what, "_", key)]); };
    const std::string_view name = TextOf(perf[what]);
    double us = 0;
    const int64_t size = IntOf(at("msg_size_bytes")), ranks = IntOf(header["n_ranks"]);
    if (name.empty() || at("exec_time_us").get(us) != simdjson::SUCCESS || !(us >= 0) || us > 1e12) return false;
    const std::string_view kind = CollectiveKind(name);
    CollectiveRow row{.name = shard_.Name(name),
                      .kind = shard_.Text(kind.empty() ? "other" : kind),
                      .ts_ns = 0,
                      .dur_ns = std::llround(us * 1000)};
    row.ts_ns = StartOf(metadata, perf, what, row.dur_ns);
    SetGroup(header, row);
    const bool one_share = kind == "all_gather" || kind == "reduce_scatter";
    if (size >= 0 && size < kMaxSize && (!one_share || (ranks > 0 && ranks < kMaxRanks)))
      row.bytes = size * (one_share ? ranks : 1);
    row.seq = IntOf(at("sn"));
    row.state = shard_.Text("completed");
    if (what == "p2p") SetPeer(header, at("peer"), kind, row);
    shard_.Add(row);
    ++rows_;
    CountChoice(
        {std::string(kind), std::string(TextOf(at("algo"))), std::string(TextOf(at("proto"))), row.bytes, ranks});
    return true;
  }

  void SetGroup(const Value& header, CollectiveRow& row) {
    const std::string_view id = TextOf(header["id"]), name = TextOf(header["comm_name"]);
    row.group = shard_.Text(name.empty() || name == "unknown" ? std::string(id) : StrCat(id, ":", name));
    const int64_t ranks = IntOf(header["n_ranks"]);
    if (ranks > 0 && ranks < kMaxRanks) row.group_size = static_cast<int32_t>(ranks);
  }

  void SetPeer(const Value& header, const Value& peer, std::string_view kind, CollectiveRow& row) const {
    const int64_t mine = IntOf(header["rank"]), other = IntOf(peer);
    if (mine < 0 || other < 0 || mine > kMaxRanks || other > kMaxRanks) return;
    const bool sends = kind == "send";
    row.src_rank = static_cast<int32_t>(sends ? mine : other),
    row.dst_rank = static_cast<int32_t>(sends ? other : mine);
  }

  // The first kernel of verbose files, else the call on the host; microseconds since 1970, kAbsent if there is none.
  static int64_t EventStart(const Value& events, std::string_view what) {
    int64_t start = kAbsent;
    dom::array kernels;
    if (events["kernel_events"].get(kernels) == simdjson::SUCCESS)
      for (const dom::element kernel : kernels)
        if (const int64_t us = IntOf(kernel["kernel_start_ts"]); us > 0 && (start == kAbsent || us < start)) start = us;
    return start != kAbsent ? start : IntOf(events[StrCat(what, "_start_ts")]);
  }

  int64_t StartOf(const Value& metadata, const Value& perf, std::string_view what, int64_t dur_ns) {
    const int64_t start = EventStart(perf["event_trace_ts"], what), dump = IntOf(metadata["dump_timestamp_us"]);
    if (start > 0 && start < kMaxUs && dump > 0 && std::abs(dump - start) < int64_t{86'400'000'000})
      return start * 1000;
    ++unplaced_;
    const int64_t written = dump > 0 && dump < kMaxUs ? dump * 1000 : 0;
    const int64_t begin = std::max(end_ns_, written - std::min(dur_ns, written));
    end_ns_ = begin + dur_ns;
    return begin;
  }

  void CountChoice(Call call) {
    if (!call.algorithm.empty() && (calls_.size() < 10'000 || calls_.contains(call))) ++calls_[std::move(call)];
  }

  TraceBuilder& builder_;
  TraceBuilder::Shard& shard_;
  std::map<Call, int64_t> calls_;
  int64_t rows_ = 0, bad_ = 0, dropped_ = 0, unplaced_ = 0, end_ns_ = 0;
  int64_t world_size_ = kAbsent, rank_ = kAbsent;
  bool ranks_differ_ = false;
};

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(const std::string text, ReadAll(source));
  dom::parser parser;
  Writer writer(builder);
  JsonObjects objects(text);
  int64_t damaged = 0, count = 0;
  for (std::string_view object = objects.Next(); !object.empty(); object = objects.Next()) {
    if (++count % 4096 == 0 && context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
    dom::element element;
    if (parser.parse(object.data(), object.size()).get(element) != simdjson::SUCCESS)
      ++damaged;
    else
      writer.Take(element);
  }
  builder.Count("damaged_lines", Severity::kLoss, damaged, kAbsent, "objects that are no valid JSON were left out");
  if (objects.is_cut())
    builder.Count("damaged_input", Severity::kError, 1, kAbsent, "a line was cut off in the middle: it was left out");
  if (writer.rows() == 0)
    return Fail(ErrorCode::kInput, "the file holds no collective with a time", source.path(), std::string(kHint));
  writer.Finish();
  return {};
}

void Complete(Trace& trace) { trace.info.start_unix_ns = trace.info.origin_ns; }

}  // namespace

READER(nccl_inspector) = {
    .name = "nccl_inspector",
    .help = "Collectives by time and bandwidth, as the Inspector plugin of NCCL or RCCL writes them",
    .extensions = kExtensions,
    .sniff = SniffHead,
    .read = Read,
    .complete = Complete};

}  // namespace gapless::internal::nccl_inspector_reader
