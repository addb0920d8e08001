// SPDX-License-Identifier: Apache-2.0
// Takes calls out of the pickle as soon as each is complete, so one that was cut off gives those before the cut.
#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "ingest/pickle.h"
#include "ingest/readers/flight_recorder/dump.h"

namespace gapless::internal::flight_recorder {
namespace {

using Kind = PickleValue::Kind;

std::string PickledText(const Pickle& pickle, PickleValue value) {
  if (value.kind == Kind::kInt) return StrCat(value.integer);
  return std::string(pickle.Text(value));
}

// Times that are not known are None or 0.
int64_t PickledTime(const Pickle& pickle, PickleValue entry, std::string_view key) {
  const int64_t ns = pickle.IntAt(entry, key);
  return ns > 0 ? ns : kAbsent;
}

Sizes PickledSizes(const Pickle& pickle, PickleValue list) {
  Sizes sizes;
  if (list.kind != Kind::kList) return sizes;
  for (const PickleValue& tensor : pickle.Items(list)) {
    std::string dims;
    int64_t elements = 1;
    for (const PickleValue& dim : pickle.Items(tensor)) {
      if (dim.kind != Kind::kInt || dim.integer < 0) return {};
      dims += StrCat(dims.empty() ? "" : ", ", dim.integer);
      elements = dim.integer > 0 && elements > kMaxElements / dim.integer ? kMaxElements : elements * dim.integer;
    }
    sizes.text += StrCat(sizes.text.empty() ? "[" : ", ", "[", dims, "]");
    sizes.elements = std::min(std::max<int64_t>(sizes.elements, 0) + elements, kMaxElements);
  }
  sizes.text += sizes.text.empty() ? "" : "]";
  return sizes;
}

std::string FirstText(const Pickle& pickle, PickleValue list) {
  const auto items = pickle.Items(list);
  return items.empty() ? std::string() : std::string(pickle.Text(items[0]));
}

bool PickledTruth(const Pickle& pickle, PickleValue entry, std::string_view key) {
  const PickleValue value = pickle.Get(entry, key);
  return value.kind == Kind::kBool && value.integer != 0;
}

void TakeSizes(const Pickle& pickle, PickleValue entry, Call& call) {
  Sizes in = PickledSizes(pickle, pickle.Get(entry, "input_sizes")),
        out = PickledSizes(pickle, pickle.Get(entry, "output_sizes"));
  call.in_shape = std::move(in.text), call.in_elements = in.elements;
  call.out_shape = std::move(out.text), call.out_elements = out.elements;
  call.in_dtype = FirstText(pickle, pickle.Get(entry, "input_dtypes"));
  call.out_dtype = FirstText(pickle, pickle.Get(entry, "output_dtypes"));
}

Call PickledCall(const Pickle& pickle, PickleValue entry) {
  Call call;
  call.name = pickle.TextAt(entry, "profiling_name"), call.state = pickle.TextAt(entry, "state");
  const auto group = pickle.Items(pickle.Get(entry, "process_group"));
  if (!group.empty()) call.group_name = PickledText(pickle, group[0]);
  if (group.size() > 1) call.group_desc = PickledText(pickle, group[1]);
  call.pg_id = pickle.IntAt(entry, "pg_id"), call.record = pickle.IntAt(entry, "record_id");
  call.seq = pickle.IntAt(entry, "collective_seq_id"), call.p2p_seq = pickle.IntAt(entry, "p2p_seq_id");
  if (call.seq == kAbsent) call.seq = pickle.IntAt(entry, "seq_id");  // the key of PyTorch 2.2
  call.created_ns = PickledTime(pickle, entry, "time_created_ns");
  call.started_ns = PickledTime(pickle, entry, "time_discovered_started_ns");
  call.completed_ns = PickledTime(pickle, entry, "time_discovered_completed_ns");
  call.timeout_ms = pickle.IntAt(entry, "timeout_ms");
  const PickleValue duration = pickle.Get(entry, "duration_ms");
  if (duration.kind == Kind::kReal) call.duration_ms = duration.real();
  if (duration.kind == Kind::kInt) call.duration_ms = static_cast<double>(duration.integer);
  call.is_p2p = PickledTruth(pickle, entry, "is_p2p"), call.retired = PickledTruth(pickle, entry, "retired");
  TakeSizes(pickle, entry, call);
  for (const PickleValue& frame : pickle.Items(pickle.Get(entry, "frames")))
    call.frames.push_back({PickledText(pickle, pickle.Get(frame, "name")),
                           PickledText(pickle, pickle.Get(frame, "filename")), pickle.IntAt(frame, "line")});
  return call;
}

// "[0, 1]", as a text or as a list.
std::string PickledRanks(const Pickle& pickle, PickleValue ranks) {
  if (ranks.kind != Kind::kList) return std::string(pickle.Text(ranks));
  std::string text;
  for (const PickleValue& rank : pickle.Items(ranks)) text += StrCat(text.empty() ? "[" : ", ", rank.integer);
  return text.empty() ? text : text + "]";
}

void TakeDictionary(Pickle& pickle, PickleValue value, Dump& dump) {
  if (!pickle.TextAt(value, "profiling_name").empty()) {
    dump.calls.push_back(PickledCall(pickle, value));
    pickle.Fold(value, 0);
  } else if (pickle.Get(value, "ranks").kind != Kind::kNone && pickle.Get(value, "desc").kind == Kind::kText) {
    dump.groups.insert_or_assign(
        PickledText(pickle, pickle.Get(value, "name")),
        Group{PickledRanks(pickle, pickle.Get(value, "ranks")), std::string(pickle.TextAt(value, "desc"))});
  }
}

void TakePickledRoot(const Pickle& pickle, Dump& dump) {
  const PickleValue root = pickle.root();
  dump.version = PickledText(pickle, pickle.Get(root, "version"));
  for (const std::string_view key : {"comm_lib_version", "nccl_version"})
    if (const std::string text = PickledText(pickle, pickle.Get(root, key)); !text.empty()) dump.library_version = text;
  dump.rank = pickle.IntAt(root, "rank");
  const auto items = pickle.Items(pickle.Get(root, "pg_status"));
  for (size_t at = 0; at + 1 < items.size(); at += 2) {
    int64_t number = kAbsent;
    const std::string key = PickledText(pickle, items[at]);
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
    if (error != std::errc() || end != key.data() + key.size()) continue;
    dump.status[number] = {pickle.IntAt(items[at + 1], "last_enqueued_collective"),
                           pickle.IntAt(items[at + 1], "last_started_collective"),
                           pickle.IntAt(items[at + 1], "last_completed_collective")};
  }
}

}  // namespace

Result<Dump> ReadPickleDump(Source& source, const std::atomic<bool>* cancel) {
  Dump dump;
  GAPLESS_ASSIGN(auto stream, source.Open());
  auto pickle = Pickle::Read(
      *stream, [&](Pickle& at, PickleValue value) { TakeDictionary(at, value, dump); }, cancel);
  if (pickle) {
    TakePickledRoot(*pickle, dump);
    return dump;
  }
  // One that would run code is refused, whatever stands before that.
  const bool is_cut = pickle.error().message.find("cut off") != std::string::npos;
  if (!is_cut || dump.calls.empty()) return Unexpected{pickle.error()};
  dump.damage = pickle.error().message;
  return dump;
}

}  // namespace gapless::internal::flight_recorder
