// SPDX-License-Identifier: Apache-2.0
// Takes events, blocks and frames out of the pickle while it is read: each becomes a number as soon as it is complete,
// so a snapshot of a gigabyte needs no gigabyte. Lists of frames are shared by what has the same stack.
#include "ingest/readers/torch_memory/snapshot.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/strings.h"

namespace gapless::internal::torch_memory {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 50, kMaxDevices = 1024, kNsOfUs = 1000;
constexpr int64_t kMaxUnixUs = int64_t{1} << 51;  // the year 2041

struct Frame {
  std::string_view function, file;
  int64_t line = kAbsent;
  Place place = Place::kUnknown;
};
struct Stack {
  StackId row{};
  Place place = Place::kUnknown;
};

Action ActionOf(std::string_view name) {
  if (name == "alloc") return Action::kAlloc;
  if (name == "free_requested") return Action::kFreeRequested;
  if (name == "free_completed" || name == "free") return Action::kFree;
  if (name == "segment_alloc" || name == "segment_map") return Action::kSegmentAlloc;
  if (name == "segment_free" || name == "segment_unmap") return Action::kSegmentFree;
  return name == "oom" ? Action::kOom : Action::kOther;
}

class Taker {
 public:
  explicit Taker(TraceBuilder& builder) : builder_(builder) {}

  // Folds a complete dictionary that is of one of the known kinds.
  void Take(Pickle& pickle, PickleValue value) {
    if (!pickle.TextAt(value, "action").empty())
      pickle.Fold(value, TakeEvent(pickle, value));
    else if (IsFrame(pickle, value))
      pickle.Fold(value, TakeFrame(pickle, value));
    else if (!pickle.TextAt(value, "state").empty() && pickle.IntAt(value, "size") != kAbsent)
      pickle.Fold(value, TakeBlock(pickle, value));
  }

  // Puts what was taken into its place: devices and segments are known by the lists that hold them.
  Snapshot Finish(Pickle& pickle) {
    const PickleValue root = pickle.root();
    const PickleValue segments =
        root.kind == PickleValue::Kind::kList ? root : pickle.Get(root, "segments");  // a list alone: PyTorch 1.12
    for (const PickleValue& segment : pickle.Items(segments)) TakeSegment(pickle, segment);
    int32_t device = 0;
    for (const PickleValue& events : pickle.Items(pickle.Get(root, "device_traces")))
      TakeEvents(pickle, events, device++);
    TakeSettings(pickle, pickle.Get(root, "allocator_settings"));
    std::erase_if(snapshot_.events, [](const Event& event) { return event.device < 0; });
    std::erase_if(snapshot_.blocks, [](const Block& block) { return block.device < 0; });
    return std::move(snapshot_);
  }

 private:
  static bool IsFrame(const Pickle& pickle, PickleValue value) {
    return pickle.Get(value, "filename").kind == PickleValue::Kind::kText &&
           pickle.Get(value, "name").kind == PickleValue::Kind::kText;
  }

  int64_t TakeFrame(const Pickle& pickle, PickleValue value) {
    Frame frame{pickle.TextAt(value, "name"), pickle.TextAt(value, "filename"), pickle.IntAt(value, "line")};
    if (frame.line == 0) frame.line = kAbsent;
    if (frame.file == "??") frame.file = {};
    frame.place = PlaceOf(frame.function, frame.file);
    frames_.push_back(frame);
    return static_cast<int64_t>(frames_.size()) - 1;
  }

  // The numbers of the frames in a list, the innermost first.
  std::u32string FramesOf(Pickle& pickle, PickleValue list) {
    std::u32string frames;
    for (const PickleValue& item : pickle.Items(list)) {
      if (pickle.Folded(item) == kAbsent && IsFrame(pickle, item)) pickle.Fold(item, TakeFrame(pickle, item));
      const int64_t number = pickle.Folded(item);
      if (number != kAbsent && number < static_cast<int64_t>(frames_.size())) frames += static_cast<char32_t>(number);
    }
    return frames;
  }

  // Rows begin with the outermost frame.
  Stack AddStack(const std::u32string& frames) {
    Stack stack;
    for (size_t i = frames.size(); i-- > 0;) {
      const Frame& frame = frames_[frames[i]];
      stack.row =
          builder_.AddFrame({.parent = stack.row, .file = frame.file, .line = frame.line, .function = frame.function});
      stack.place = std::max(stack.place, frame.place);
    }
    return stack;
  }

  // A program allocates at few places again and again: most lists have the frames of an earlier one.
  Stack TakeStack(Pickle& pickle, PickleValue list) {
    if (const int64_t known = pickle.Folded(list); known != kAbsent) return StackAt(known);
    const auto [found, is_new] = known_stacks_.try_emplace(FramesOf(pickle, list), stacks_.size());
    if (is_new) stacks_.push_back(AddStack(found->first));
    pickle.Fold(list, static_cast<int64_t>(found->second));
    return stacks_[found->second];
  }
  Stack StackAt(int64_t number) const {
    return number < static_cast<int64_t>(stacks_.size()) ? stacks_[static_cast<size_t>(number)] : Stack();
  }

  int64_t TakeEvent(Pickle& pickle, PickleValue value) {
    Event event{.action = ActionOf(pickle.TextAt(value, "action")),
                .address = pickle.IntAt(value, "addr"),
                .bytes = pickle.IntAt(value, "size"),
                .stream = pickle.IntAt(value, "stream")};
    const Stack stack = TakeStack(pickle, pickle.Get(value, "frames"));
    event.stack = stack.row, event.place = stack.place;
    const int64_t time_us = pickle.IntAt(value, "time_us");
    if (time_us > 0 && time_us < kMaxUnixUs) event.ts_ns = time_us * kNsOfUs;
    snapshot_.events.push_back(event);
    return static_cast<int64_t>(snapshot_.events.size()) - 1;
  }

  // PyTorch 2.0 has the stack in a list of what happened to the block.
  int64_t TakeBlock(Pickle& pickle, PickleValue value) {
    PickleValue frames = pickle.Get(value, "frames");
    if (const auto history = pickle.Items(pickle.Get(value, "history")); !history.empty())
      frames = pickle.Get(history[0], "frames");
    const Stack stack = TakeStack(pickle, frames);
    snapshot_.blocks.push_back({.place = stack.place,
                                .stack = stack.row,
                                .address = pickle.IntAt(value, "address"),
                                .bytes = pickle.IntAt(value, "size"),
                                .state = std::string(pickle.TextAt(value, "state"))});
    Block& block = snapshot_.blocks.back();
    if (block.state.starts_with("active")) block.requested = RequestedOf(pickle, value, block.bytes);
    return static_cast<int64_t>(snapshot_.blocks.size()) - 1;
  }

  // Older snapshots have it in the list of what happened to the block, or not at all.
  static int64_t RequestedOf(const Pickle& pickle, PickleValue value, int64_t bytes) {
    int64_t requested = pickle.IntAt(value, "requested_size");
    if (const auto history = pickle.Items(pickle.Get(value, "history")); requested == kAbsent && !history.empty())
      requested = pickle.IntAt(history[0], "real_size");
    return requested > 0 && requested <= bytes ? requested : bytes;
  }

  static bool IsSize(int64_t bytes) { return bytes >= 0 && bytes <= kMaxBytes; }
  static int64_t& At(std::vector<int64_t>& bytes, int32_t device) {
    if (bytes.size() <= static_cast<size_t>(device)) bytes.resize(static_cast<size_t>(device) + 1);
    return bytes[static_cast<size_t>(device)];
  }

  // Returns the row of an item in `rows`, which it is put into now if it was not complete before; null: it is none.
  template <class Row>
  Row* RowOf(Pickle& pickle, PickleValue item, std::vector<Row>& rows) {
    if (pickle.Folded(item) == kAbsent) Take(pickle, item);
    const int64_t row = pickle.Folded(item);
    const bool is_one =
        row != kAbsent && row < static_cast<int64_t>(rows.size()) && IsSize(rows[static_cast<size_t>(row)].bytes);
    if (!is_one) ++snapshot_.bad_rows;
    return is_one ? &rows[static_cast<size_t>(row)] : nullptr;
  }

  // Older snapshots have no addresses of blocks: they stand one behind the other.
  void TakeSegment(Pickle& pickle, PickleValue segment) {
    const int64_t device = pickle.IntAt(segment, "device"), start = pickle.IntAt(segment, "address");
    const int64_t bytes = pickle.IntAt(segment, "total_size");
    if (device < 0 || device >= kMaxDevices || start == kAbsent || !IsSize(bytes)) return void(++snapshot_.bad_rows);
    const auto number = static_cast<int32_t>(device);
    At(snapshot_.reserved, number) += bytes;
    int64_t next = start;
    for (const PickleValue& item : pickle.Items(pickle.Get(segment, "blocks"))) {
      Block* const block = RowOf(pickle, item, snapshot_.blocks);
      if (block == nullptr || block->device >= 0) continue;
      if (block->address == kAbsent) block->address = next;
      block->device = number, block->segment = start;
      next = static_cast<int64_t>(static_cast<uint64_t>(block->address) + static_cast<uint64_t>(block->bytes));
      if (block->state.starts_with("active")) At(snapshot_.active, number) += block->requested;
    }
  }

  void TakeEvents(Pickle& pickle, PickleValue list, int32_t device) {
    for (const PickleValue& item : pickle.Items(list)) {
      Event* const event = device < kMaxDevices ? RowOf(pickle, item, snapshot_.events) : nullptr;
      if (event == nullptr) continue;
      event->device = device;
      snapshot_.has_times = snapshot_.has_times && event->ts_ns != kAbsent;
    }
  }

  void TakeSettings(const Pickle& pickle, PickleValue settings) {
    const auto items = pickle.Items(settings);
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      const PickleValue value = items[i + 1];
      std::string text(pickle.Text(value));
      if (value.kind == PickleValue::Kind::kBool) text = value.integer != 0 ? "true" : "false";
      if (value.kind == PickleValue::Kind::kInt) text = StrCat(value.integer);
      if (!text.empty()) snapshot_.settings.emplace_back(pickle.Text(items[i]), std::move(text));
    }
  }

  TraceBuilder& builder_;
  std::vector<Frame> frames_;
  std::vector<Stack> stacks_;
  std::unordered_map<std::u32string, size_t> known_stacks_;  // frames, to a place in stacks_
  Snapshot snapshot_;
};

}  // namespace

Result<Snapshot> ReadSnapshot(ByteStream& stream, TraceBuilder& builder, const std::atomic<bool>* cancel) {
  Taker taker(builder);
  auto pickle = Pickle::Read(
      stream, [&taker](Pickle& of, PickleValue value) { taker.Take(of, value); }, cancel);
  if (!pickle) return Unexpected{pickle.error()};
  return taker.Finish(*pickle);
}

}  // namespace gapless::internal::torch_memory
