// SPDX-License-Identifier: Apache-2.0
// Reads dumps of PyTorch's Flight Recorder: what TORCH_NCCL_DUMP_ON_TIMEOUT writes (/tmp/nccl_trace_rank_N),
// _dump_nccl_trace() and _dump_fr_trace() as pickles, and their JSON.
//
// Each call is a row of collective, with where it was called in stack. It begins when the watchdog saw it start, else
// when it was called. It has a duration only where events were timed (duration_ms): when the watchdog saw its end is
// up to 100 ms late. The state is that of the dump; a call that was taken off the watchdog's list, or that the status
// of its group counts as done, is completed, too: backends without events leave the state at "scheduled".
#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "ingest/names.h"
#include "ingest/pickle.h"
#include "ingest/random_access.h"
#include "ingest/reader.h"
#include "ingest/readers/flight_recorder/dump.h"

namespace gapless::internal::flight_recorder_reader {
namespace {

using flight_recorder::Call;
using flight_recorder::Dump;

constexpr std::string_view kExtensions[] = {".fr.pickle", ".fr.json", ".flight_recorder"};
constexpr std::string_view kHint =
    "TORCH_FR_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 torchrun … writes /tmp/nccl_trace_rank_N when it hangs";
constexpr int64_t kNsOfMs = 1'000'000;
constexpr int64_t kMaxUnixNs = int64_t{1} << 61;  // the year 2043

bool IsJson(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  return first != head.npos && head[first] == '{';
}

Sniff SniffHead(std::string_view head) {
  const auto has = [&](std::string_view key) { return head.find(key) != head.npos; };
  if (!Pickle::LooksLikeOne(head) && !IsJson(head)) return Sniff::kNo;
  if (has("profiling_name") && (has("collective_seq_id") || has("pg_config") || has("record_id"))) return Sniff::kYes;
  return has("pg_config") && has("pg_status") ? Sniff::kYes : Sniff::kNo;
}

// "[0, 1, 5]"
std::vector<int64_t> RanksIn(std::string_view text) {
  std::vector<int64_t> ranks;
  for (size_t at = 0; (at = text.find_first_of("0123456789", at)) != text.npos;) {
    int64_t rank = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), rank);
    if (error == std::errc()) ranks.push_back(rank);
    at = static_cast<size_t>(end - text.data());
  }
  return ranks;
}

// "nccl:recv 3<-0" is of sender 0 and receiver 3, numbers within the group.
std::pair<int64_t, int64_t> PeersOf(std::string_view name) {
  const size_t arrow = std::min(name.find("->"), name.find("<-"));
  if (arrow == name.npos) return {kAbsent, kAbsent};
  const std::string_view left = name.substr(0, arrow);
  const size_t space = left.find_last_of(' ');
  const auto number = [](std::string_view text) {
    int64_t value = kAbsent;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  const int64_t mine = number(space == left.npos ? left : left.substr(space + 1)),
                other = number(name.substr(arrow + 2));
  return name[arrow] == '<' ? std::pair{other, mine} : std::pair{mine, other};
}

std::string_view KindOf(std::string_view name) {
  const std::string_view op = name.substr(name.find_last_of(':') + 1);
  if (op.find("barrier") != op.npos) return "barrier";
  if (op == "coalesced") return "coalesced";
  const std::string_view kind = CollectiveKind(op);
  return kind.empty() ? "other" : kind;
}

class Writer {
 public:
  Writer(const Dump& dump, TraceBuilder& builder) : dump_(dump), builder_(builder), shard_(builder.NewShard()) {}

  void Write() {
    for (const Call& call : dump_.calls) WriteCall(call);
    for (const auto& [number, status] : dump_.status) {
      const auto note = [&](std::string_view what, int64_t last) {
        if (last != kAbsent && last >= 0)
          builder_.AddEnvironment(StrCat("flight_recorder.group.", number, ".last_", what), StrCat(last));
      };
      note("enqueued", status.enqueued), note("started", status.started), note("completed", status.completed);
    }
    builder_.AddEnvironment("flight_recorder.version", dump_.version);
    if (!dump_.library_version.empty()) builder_.AddEnvironment("nccl.version", dump_.library_version);
    builder_.Count("no_times", Severity::kInfo, without_time_, kAbsent,
                   "calls have no time: they stand behind the one before");
  }

 private:
  const flight_recorder::Group* GroupOf(const Call& call) const {
    const auto found = dump_.groups.find(call.group_name);
    if (found != dump_.groups.end()) return &found->second;
    // The recorder of backends other than NCCL does not name the only group.
    return dump_.groups.size() == 1 ? &dump_.groups.begin()->second : nullptr;
  }

  std::string_view StateOf(const Call& call) const {
    const auto status = dump_.status.find(call.pg_id);
    const bool counted = status != dump_.status.end() && !call.is_p2p && call.seq != kAbsent &&
                         status->second.completed != kAbsent && call.seq <= status->second.completed;
    return call.retired || counted ? std::string_view("completed") : std::string_view(call.state);
  }

  // The same text for the same frames; the outermost comes first in the tree.
  StackId StackOf(const Call& call) {
    StackId at{};
    for (auto frame = call.frames.rbegin(); frame != call.frames.rend(); ++frame)
      at = builder_.AddFrame({.parent = at,
                              .file = frame->file,
                              .line = frame->line > 0 ? frame->line : kAbsent,
                              .function = frame->function.empty() ? std::string_view("?") : frame->function});
    return at;
  }

  static int64_t Bytes(const Call& call) {
    const auto of = [](int64_t elements, std::string_view dtype) {
      const int64_t width = ElementBytes(dtype);
      return elements == kAbsent || width == 0 ? kAbsent : elements * width;
    };
    return std::max(of(call.in_elements, call.in_dtype), of(call.out_elements, call.out_dtype));
  }

  int64_t TimeOf(const Call& call) {
    int64_t ns = call.started_ns != kAbsent ? call.started_ns : call.created_ns;
    if (ns == kAbsent || ns > kMaxUnixNs) ++without_time_, ns = last_ns_;
    return last_ns_ = ns;
  }

  void SetPeers(const Call& call, const std::vector<int64_t>& ranks, CollectiveRow& row) const {
    const auto global = [&](int64_t peer) {
      if (peer == kAbsent || peer < 0) return kAbsent32;
      const auto place = static_cast<size_t>(peer);
      if (place < ranks.size()) peer = ranks[place];
      return peer < (int64_t{1} << 30) ? static_cast<int32_t>(peer) : kAbsent32;
    };
    const auto [src, dst] = PeersOf(call.name);
    row.src_rank = global(src), row.dst_rank = global(dst);
  }

  void WriteCall(const Call& call) {
    const flight_recorder::Group* group = GroupOf(call);
    const std::string_view desc =
        call.group_desc == "undefined" ? std::string_view() : std::string_view(call.group_desc);
    CollectiveRow row{.name = shard_.Name(call.name),
                      .kind = shard_.Text(KindOf(call.name)),
                      .ts_ns = TimeOf(call),
                      .dur_ns = kAbsent};
    row.group =
        shard_.Text(desc.empty() || desc == call.group_name ? call.group_name : StrCat(call.group_name, ":", desc));
    const bool timed = call.duration_ms >= 0 && call.duration_ms < 1e9;
    if (timed) row.dur_ns = static_cast<int64_t>(call.duration_ms * static_cast<double>(kNsOfMs));
    row.dtype = shard_.Text(call.in_dtype.empty() ? call.out_dtype : call.in_dtype);
    row.in_elements = call.in_elements, row.out_elements = call.out_elements, row.bytes = Bytes(call);
    row.seq = call.is_p2p ? call.p2p_seq : call.seq;
    row.state = shard_.Text(StateOf(call)), row.stack = StackOf(call);
    row.in_shape = shard_.Text(call.in_shape), row.out_shape = shard_.Text(call.out_shape);
    if (call.timeout_ms > 0 && call.timeout_ms < (int64_t{1} << 40)) row.timeout_ns = call.timeout_ms * kNsOfMs;
    std::vector<int64_t> ranks;
    if (group != nullptr) {
      ranks = RanksIn(group->ranks);
      row.group_ranks = shard_.Text(group->ranks);
      if (!ranks.empty()) row.group_size = static_cast<int32_t>(std::min<size_t>(ranks.size(), 1 << 30));
    }
    SetPeers(call, ranks, row);
    shard_.Add(row);
  }

  const Dump& dump_;
  TraceBuilder& builder_;
  TraceBuilder::Shard& shard_;
  int64_t last_ns_ = 0, without_time_ = 0;
};

Result<Dump> DumpOf(Source& source, const ReadContext& context) {
  std::string head(64, '\0');
  {
    GAPLESS_ASSIGN(auto stream, source.Open());
    GAPLESS_ASSIGN(const size_t got, stream->Read(head.data(), head.size()));
    head.resize(got);
  }
  if (!IsJson(head)) return flight_recorder::ReadPickleDump(source, context.cancel);
  GAPLESS_ASSIGN(const std::string text, ReadAll(source));
  return flight_recorder::ReadJsonDump(text, source.path());
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  Result<Dump> dump = DumpOf(source, context);
  if (!dump) {
    Error error = dump.error();
    if (error.place.empty()) error.place = source.path();
    if (error.hint.empty()) error.hint = kHint;
    return Unexpected{std::move(error)};
  }
  if (dump->calls.empty())
    return Fail(ErrorCode::kInput, "the dump of the Flight Recorder holds no call", source.path(), std::string(kHint));
  builder.Count("bad_record", Severity::kLoss, dump->bad_calls, kAbsent, "entries without a name were left out");
  if (!dump->damage.empty())
    builder.Count("damaged_input", Severity::kError, 1, kAbsent, StrCat("reading stopped: ", dump->damage));
  Writer(*dump, builder).Write();
  builder.info().event_count = static_cast<int64_t>(dump->calls.size());
  if (dump->rank >= 0) builder.info().rank = dump->rank;
  for (const auto& [name, group] : dump->groups)
    builder.info().world_size = std::max(builder.info().world_size, static_cast<int64_t>(RanksIn(group.ranks).size()));
  return {};
}

// The recorder writes times of the wall clock.
void Complete(Trace& trace) { trace.info.start_unix_ns = trace.info.origin_ns; }

}  // namespace

READER(flight_recorder) = {.name = "flight_recorder",
                           .help = "PyTorch's Flight Recorder: collectives of a job that hangs, pickled or as JSON",
                           .extensions = kExtensions,
                           .sniff = SniffHead,
                           .read = Read,
                           .complete = Complete};

}  // namespace gapless::internal::flight_recorder_reader
