// SPDX-License-Identifier: Apache-2.0
// Reads memory snapshots of PyTorch's caching allocator: torch.cuda.memory._dump_snapshot(), _snapshot() pickled by the
// program itself, and what the agent keeps of a run that ended without memory.
//
// The pickle is read as plain data (ingest/pickle.h). Allocations, frees and out-of-memory events become memory_event,
// each allocation with its lifetime and each block of the snapshot memory_block, frames stack. A free counts when it is
// complete, as in PyTorch's own picture: until then another stream may use the memory.
//
// Totals follow from the end: the snapshot has what was active and reserved then, and going back through the events
// gives what was before each. They are exact unless events are missing in between, which the allocator's ring never
// does: it drops the oldest. Events have the bytes that were asked for, and so have the totals: the allocator rounds
// them up.
//
// The category of an allocation comes from its stack and its lifetime. Made in an optimiser's step and kept: its state.
// Made in a backward pass and there when something else allocates again: a gradient. Made in a forward pass and there
// when a backward pass allocates, or never freed: an activation. Made when a module is built or moved: a parameter.
// Memory that is gone sooner is temporary. Stacks without frames are of the backward pass when there is one in Python:
// its thread has no frames.
#include <algorithm>
#include <array>
#include <map>

#include "base/strings.h"
#include "ingest/reader.h"
#include "ingest/readers/torch_memory/snapshot.h"

namespace gapless::internal::torch_memory_reader {
namespace {

using torch_memory::Action;
using torch_memory::Block;
using torch_memory::Event;
using torch_memory::Place;
using torch_memory::Snapshot;

constexpr std::string_view kExtensions[] = {".pickle", ".pkl"};
constexpr std::string_view kHint =
    "torch.cuda.memory._record_memory_history(); … torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")";
constexpr uint8_t kOnGpu = 1;

Sniff SniffHead(std::string_view head) {
  if (!Pickle::LooksLikeOne(head)) return Sniff::kNo;
  const auto has = [&](std::string_view key) { return head.find(key) != head.npos; };
  return has("segments") || has("device_traces") || (has("total_size") && has("blocks")) ? Sniff::kYes : Sniff::kNo;
}

// The lifetime of an allocation: the events that begin and end it, and what it holds.
struct Lifetime {
  uint32_t alloc = 0, free = kNoRowValue;
  uint8_t category = 0;  // place in kCategories
  bool is_freed() const { return free != kNoRowValue; }
};
// One that has not ended, with the number of allocations of a backward pass, and of anything else, up to its own.
struct OpenLifetime {
  uint32_t lifetime = 0, backward = 0, other = 0;
};

constexpr std::string_view kCategories[] = {"", "optimizer_state", "temporary", "gradient", "activation", "parameter"};
enum Category : uint8_t { kNoCategory, kOptimizerState, kTemporary, kGradient, kActivation, kParameter };

// A Fate says if an allocation was kept, or if something else allocated before it was freed.
struct Fate {
  bool kept = false, backward_allocated = false, other_allocated = false;
};

Category CategoryOf(Place place, Fate fate) {
  switch (place) {
    case Place::kOptimizer: return fate.kept ? kOptimizerState : kTemporary;
    case Place::kBackward: return fate.kept || fate.other_allocated ? kGradient : kTemporary;
    case Place::kForward: return fate.kept || fate.backward_allocated ? kActivation : kTemporary;
    case Place::kModule: return kParameter;
    case Place::kUnknown: break;
  }
  return kNoCategory;
}

class Writer {
 public:
  Writer(Snapshot& snapshot, TraceBuilder& builder)
      : snapshot_(snapshot), builder_(builder), shard_(builder.NewShard()) {}

  // Events come last: each stretch of them is given back once it has been written.
  void Write() {
    FillPlaces();
    FillTimes();
    FindLifetimes();
    for (const Lifetime& lifetime : lifetimes_)
      if (lifetime.is_freed()) WriteFreed(lifetime);
    WriteBlocks();
    WriteEvents();
  }

 private:
  template <class F>
  void ForEachEvent(const F& f) {
    for (size_t row = 0; row < snapshot_.events.size(); ++row)
      if (snapshot_.events[row].device >= 0) f(row, snapshot_.events[row]);
  }

  // Without frames in a program that calls backward() in Python: the thread of the backward pass.
  void FillPlaces() {
    bool has_backward = false;
    ForEachEvent([&](size_t, const Event& event) {
      has_backward = has_backward || (event.place == Place::kBackward && event.stack.valid());
    });
    if (!has_backward) return;
    ForEachEvent([](size_t, Event& event) {
      if (!event.stack.valid()) event.place = Place::kBackward;
    });
  }

  // Older snapshots have no times: the order stands in their place, which the note says.
  void FillTimes() {
    if (snapshot_.has_times) return;
    builder_.Count("no_times", Severity::kLoss, 1, kAbsent,
                   "the events have no times: their order stands in place of it");
    std::map<int32_t, int64_t> next;
    ForEachEvent([&](size_t, Event& event) { event.ts_ns = next[event.device]++; });
  }

  void FindLifetimes() {
    of_event_.assign(snapshot_.events.size(), kNoRowValue);
    uint32_t backward = 0, other = 0;  // allocations so far
    ForEachEvent([&](size_t row, const Event& event) {
      if (event.action == Action::kAlloc) ++(event.place == Place::kBackward ? backward : other);
      if (event.address == kAbsent) return;
      const std::pair key{static_cast<int32_t>(event.device), event.address};
      if (event.action == Action::kAlloc) {
        of_event_[row] = static_cast<uint32_t>(lifetimes_.size());
        alive_[key] = {of_event_[row], backward, other};
        const Category category = CategoryOf(event.place, {.kept = true});
        lifetimes_.push_back({.alloc = static_cast<uint32_t>(row), .category = category});
      } else if (const auto found = alive_.find(key); event.action == Action::kFree && found != alive_.end()) {
        const OpenLifetime& open = found->second;
        of_event_[row] = open.lifetime;
        Lifetime& lifetime = lifetimes_[open.lifetime];
        lifetime.free = static_cast<uint32_t>(row);
        lifetime.category =
            CategoryOf(snapshot_.events[lifetime.alloc].place,
                       {.backward_allocated = backward > open.backward, .other_allocated = other > open.other});
        alive_.erase(found);
      }
    });
  }

  void WriteEvents() {
    std::vector<int64_t> active, reserved;
    FindBeginnings(active, reserved);
    std::array<StringId, std::size(kCategories)> categories{};
    for (size_t i = 0; i < categories.size(); ++i) categories[i] = shard_.Text(kCategories[i]);
    ForEachEvent([&](size_t row, const Event& event) {
      const auto device = static_cast<size_t>(event.device);
      active[device] += ActiveChange(event), reserved[device] += ReservedChange(event);
      if (event.action < Action::kOther) {
        const uint32_t lifetime = of_event_[row];
        const size_t category = lifetime == kNoRowValue ? 0 : lifetimes_[lifetime].category;
        WriteEvent(event, active[device], reserved[device], categories[category]);
      }
      snapshot_.events.FreeBefore(row);
    });
  }

  void WriteEvent(const Event& event, int64_t active, int64_t reserved, StringId category) {
    MemoryAction action = MemoryAction::kOom;
    if (event.action == Action::kAlloc) action = MemoryAction::kAlloc;
    if (event.action == Action::kFree) action = MemoryAction::kFree;
    if (event.action == Action::kSegmentAlloc) action = MemoryAction::kSegmentAlloc;
    if (event.action == Action::kSegmentFree) action = MemoryAction::kSegmentFree;
    const bool is_free = action == MemoryAction::kFree || action == MemoryAction::kSegmentFree;
    shard_.Add(MemoryEventRow{.device = event.device,
                              .device_type = kOnGpu,
                              .action = action,
                              .pid = 0,
                              .tid = 0,
                              .ts_ns = event.ts_ns,
                              .bytes = is_free ? -event.bytes : event.bytes,
                              .address = action == MemoryAction::kOom ? kAbsent : event.address,
                              .total_allocated = active,
                              .total_reserved = reserved,
                              .stream = event.stream,
                              .stack = event.stack,
                              .category = category});
  }

  static int64_t ActiveChange(const Event& event) {
    if (event.action == Action::kAlloc) return event.bytes;
    return event.action == Action::kFree ? -event.bytes : 0;
  }
  static int64_t ReservedChange(const Event& event) {
    if (event.action == Action::kSegmentAlloc) return event.bytes;
    return event.action == Action::kSegmentFree ? -event.bytes : 0;
  }

  void FindBeginnings(std::vector<int64_t>& active, std::vector<int64_t>& reserved) {
    size_t devices = std::max(snapshot_.active.size(), snapshot_.reserved.size());
    ForEachEvent(
        [&](size_t, const Event& event) { devices = std::max(devices, static_cast<size_t>(event.device) + 1); });
    active = snapshot_.active, reserved = snapshot_.reserved;
    active.resize(devices), reserved.resize(devices);
    ForEachEvent([&](size_t, const Event& event) {
      active[static_cast<size_t>(event.device)] -= ActiveChange(event);
      reserved[static_cast<size_t>(event.device)] -= ReservedChange(event);
    });
  }

  void WriteFreed(const Lifetime& lifetime) {
    const Event& event = snapshot_.events[lifetime.alloc];
    builder_.AddMemoryBlock({.device = event.device,
                             .address = event.address,
                             .bytes = event.bytes,
                             .alloc_ts_ns = event.ts_ns,
                             .free_ts_ns = snapshot_.events[lifetime.free].ts_ns,
                             .state = "freed",
                             .stack = event.stack,
                             .category = kCategories[lifetime.category],
                             .requested_bytes = event.bytes});
  }

  // A block that was allocated before the recording has no time, and of its category only what the stack alone shows.
  void WriteBlocks() {
    for (const Block& block : snapshot_.blocks) {
      MemoryBlockRow row{.device = block.device,
                         .address = block.address,
                         .bytes = block.bytes,
                         .state = block.state,
                         .stack = block.stack,
                         .segment = block.segment,
                         .requested_bytes = block.requested};
      const auto found = alive_.find({block.device, block.address});
      if (block.state.starts_with("active") && found != alive_.end()) {
        const Lifetime& lifetime = lifetimes_[found->second.lifetime];
        row.alloc_ts_ns = snapshot_.events[lifetime.alloc].ts_ns;
        row.category = kCategories[lifetime.category];
        if (!row.stack.valid()) row.stack = snapshot_.events[lifetime.alloc].stack;
      } else if (block.state.starts_with("active")) {
        if (block.place == Place::kOptimizer) row.category = "optimizer_state";
        if (block.place == Place::kModule) row.category = "parameter";
        if (block.place == Place::kForward) row.category = "activation";
        if (block.place == Place::kBackward) row.category = "gradient";
      }
      builder_.AddMemoryBlock(row);
    }
  }

  Snapshot& snapshot_;
  TraceBuilder& builder_;
  TraceBuilder::Shard& shard_;
  std::vector<Lifetime> lifetimes_;
  std::vector<uint32_t> of_event_;                             // the lifetime that an event begins or ends
  std::map<std::pair<int32_t, int64_t>, OpenLifetime> alive_;  // lifetimes without an end, by device and address
};

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(auto stream, source.Open());
  auto snapshot = torch_memory::ReadSnapshot(*stream, builder, context.cancel);
  if (!snapshot) {
    Error error = snapshot.error();
    error.place = source.path();
    if (error.hint.empty()) error.hint = kHint;
    return Unexpected{std::move(error)};
  }
  if (snapshot->events.size() == 0 && snapshot->blocks.empty())
    return Fail(ErrorCode::kInput, "the snapshot holds no block and no event", source.path(), std::string(kHint));
  TraceInfo& info = builder.info();
  info.framework = "pytorch";
  info.event_count = static_cast<int64_t>(snapshot->events.size() + snapshot->blocks.size()) + snapshot->requests;
  for (const auto& [name, value] : snapshot->settings) builder.AddEnvironment(StrCat("allocator.", name), value);
  builder.Count("bad_record", Severity::kLoss, snapshot->bad_rows, kAbsent,
                "entries of the snapshot without a size or a device were left out");
  Writer(*snapshot, builder).Write();
  return {};
}

// Times are of the wall clock, in microseconds.
void Complete(Trace& trace) {
  constexpr int64_t kNsOfYear = int64_t{365} * 86'400 * 1'000'000'000;
  if (trace.memory_events.size() > 0 && trace.info.origin_ns > kNsOfYear)
    trace.info.start_unix_ns = trace.info.origin_ns;
}

}  // namespace

READER(torch_memory) = {.name = "torch_memory",
                        .help = "Memory snapshots of PyTorch (torch.cuda.memory._dump_snapshot)",
                        .extensions = kExtensions,
                        .sniff = SniffHead,
                        .read = Read,
                        .complete = Complete};

}  // namespace gapless::internal::torch_memory_reader
