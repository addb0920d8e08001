// SPDX-License-Identifier: Apache-2.0
// Takes events, blocks and frames out of the pickle while it is read: each becomes a number as soon as it is complete,
// so a snapshot of a gigabyte needs no gigabyte. Lists of frames are shared by what has the same stack.
#include "ingest/readers/torch_memory/snapshot.h"

#include <algorithm>
#include <array>
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
// Keys of the dictionaries that are read.
enum class Key : uint8_t {
  kUnasked,
  kOther,
  kAction,
  kAddr,
  kSize,
  kStream,
  kTimeUs,
  kFrames,
  kFilename,
  kName,
  kLine,
  kState,
  kAddress,
  kRequestedSize,
  kHistory,
  kKeys
};
constexpr std::string_view kKeyNames[] = {"",       "",        "action",  "addr",           "size",
                                          "stream", "time_us", "frames",  "filename",       "name",
                                          "line",   "state",   "address", "requested_size", "history"};
static_assert(std::size(kKeyNames) == static_cast<size_t>(Key::kKeys));

// The values of a dictionary by key. A key is compared as a text once: it is remembered by the pickle, and known by the
// number of its text from then on.
class Fields {
 public:
  void Read(const Pickle& pickle, PickleValue dictionary) {
    values_.fill({});
    const std::span<const PickleValue> items = pickle.Items(dictionary);
    for (size_t i = 0; i + 1 < items.size(); i += 2)
      values_[static_cast<size_t>(KeyOf(pickle, items[i]))] = items[i + 1];
  }
  PickleValue operator[](Key key) const { return values_[static_cast<size_t>(key)]; }
  int64_t Int(Key key) const {
    const PickleValue value = (*this)[key];
    return value.kind == PickleValue::Kind::kInt ? value.integer : kAbsent;
  }
  bool IsText(Key key) const { return (*this)[key].kind == PickleValue::Kind::kText; }

 private:
  Key KeyOf(const Pickle& pickle, PickleValue text) {
    if (text.kind != PickleValue::Kind::kText) return Key::kOther;
    if (text.index >= known_.size()) known_.resize(text.index + size_t{1});
    Key& known = known_[text.index];
    if (known == Key::kUnasked) {
      const auto* const found = std::ranges::find(std::begin(kKeyNames) + 2, std::end(kKeyNames), pickle.Text(text));
      known = found == std::end(kKeyNames) ? Key::kOther : static_cast<Key>(found - std::begin(kKeyNames));
    }
    return known;
  }

  std::array<PickleValue, static_cast<size_t>(Key::kKeys)> values_{};
  std::vector<Key> known_;
};

// Events are folded to their row and this, so that no list of frames or blocks is taken for one of events.
constexpr int64_t kIsEvent = int64_t{1} << 60, kNoRow = kIsEvent - 1;

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
    fields_.Read(pickle, value);
    if (!pickle.Text(fields_[Key::kAction]).empty())
      pickle.Fold(value, TakeEvent(pickle));
    else if (fields_.IsText(Key::kFilename) && fields_.IsText(Key::kName))
      pickle.Fold(value, AddFrame(pickle.Text(fields_[Key::kName]), pickle.Text(fields_[Key::kFilename]),
                                  fields_.Int(Key::kLine)));
    else if (!pickle.Text(fields_[Key::kState]).empty() && fields_.Int(Key::kSize) != kAbsent)
      pickle.Fold(value, TakeBlock(pickle));
  }

  // Takes the events that a list begins with: what stays of them are stretches of rows.
  void TakeFromList(Pickle& pickle, PickleValue list) {
    const std::span<const PickleValue> items = pickle.Items(list);
    size_t count = 0;
    for (; count < items.size(); ++count) {
      const int64_t folded = pickle.Folded(items[count]);
      if (folded == kAbsent || (folded & kIsEvent) == 0) break;
      AddToStretch(stretches_[list.index], folded & ~kIsEvent);
    }
    if (count > 0) pickle.TakeFirst(list, count);
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
    std::erase_if(snapshot_.blocks, [](const Block& block) { return block.device < 0; });
    return std::move(snapshot_);
  }

 private:
  struct Stretch {
    int64_t first = 0, count = 0;
  };
  static void AddToStretch(std::vector<Stretch>& stretches, int64_t row) {
    if (row == kNoRow) return;
    if (!stretches.empty() && stretches.back().first + stretches.back().count == row)
      ++stretches.back().count;
    else
      stretches.push_back({row, 1});
  }

  int64_t AddFrame(std::string_view function, std::string_view file, int64_t line) {
    Frame frame{function, file, line};
    if (frame.line == 0) frame.line = kAbsent;
    if (frame.file == "??") frame.file = {};
    frame.place = PlaceOf(frame.function, frame.file);
    frames_.push_back(frame);
    return static_cast<int64_t>(frames_.size()) - 1;
  }
  // One that was not complete when it was seen.
  void TakeLateFrame(Pickle& pickle, PickleValue item) {
    const PickleValue function = pickle.Get(item, "name"), file = pickle.Get(item, "filename");
    if (function.kind == PickleValue::Kind::kText && file.kind == PickleValue::Kind::kText)
      pickle.Fold(item, AddFrame(pickle.Text(function), pickle.Text(file), pickle.IntAt(item, "line")));
  }

  // The numbers of the frames in a list, the innermost first.
  std::u32string FramesOf(Pickle& pickle, PickleValue list) {
    std::u32string frames;
    for (const PickleValue& item : pickle.Items(list)) {
      if (pickle.Folded(item) == kAbsent) TakeLateFrame(pickle, item);
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

  int64_t TakeEvent(Pickle& pickle) {
    Event event{.action = ActionOf(pickle.Text(fields_[Key::kAction])),
                .address = fields_.Int(Key::kAddr),
                .bytes = fields_.Int(Key::kSize),
                .stream = fields_.Int(Key::kStream)};
    if (event.action == Action::kFreeRequested && IsSize(event.bytes)) return ++snapshot_.requests, kIsEvent | kNoRow;
    const int64_t time_us = fields_.Int(Key::kTimeUs);
    if (time_us > 0 && time_us < kMaxUnixUs) event.ts_ns = time_us * kNsOfUs;
    const Stack stack = TakeStack(pickle, fields_[Key::kFrames]);
    event.stack = stack.row, event.place = stack.place;
    snapshot_.events.Add(event);
    return kIsEvent | (static_cast<int64_t>(snapshot_.events.size()) - 1);
  }

  // PyTorch 2.0 has the stack in a list of what happened to the block.
  int64_t TakeBlock(Pickle& pickle) {
    const auto history = pickle.Items(fields_[Key::kHistory]);
    const PickleValue frames = history.empty() ? fields_[Key::kFrames] : pickle.Get(history[0], "frames");
    Block block{.address = fields_.Int(Key::kAddress),
                .bytes = fields_.Int(Key::kSize),
                .state = std::string(pickle.Text(fields_[Key::kState]))};
    if (block.state.starts_with("active")) block.requested = RequestedOf(pickle, history, block.bytes);
    const Stack stack = TakeStack(pickle, frames);
    block.place = stack.place, block.stack = stack.row;
    snapshot_.blocks.push_back(std::move(block));
    return static_cast<int64_t>(snapshot_.blocks.size()) - 1;
  }

  // Older snapshots have it in the list of what happened to the block, or not at all.
  int64_t RequestedOf(const Pickle& pickle, std::span<const PickleValue> history, int64_t bytes) const {
    int64_t requested = fields_.Int(Key::kRequestedSize);
    if (requested == kAbsent && !history.empty()) requested = pickle.IntAt(history[0], "real_size");
    return requested > 0 && requested <= bytes ? requested : bytes;
  }

  static bool IsSize(int64_t bytes) { return bytes >= 0 && bytes <= kMaxBytes; }
  static int64_t& At(std::vector<int64_t>& bytes, int32_t device) {
    if (bytes.size() <= static_cast<size_t>(device)) bytes.resize(static_cast<size_t>(device) + 1);
    return bytes[static_cast<size_t>(device)];
  }

  // Returns the block that an item is, which is taken now if it was not complete before; null: it is none.
  Block* BlockOf(Pickle& pickle, PickleValue item) {
    if (pickle.Folded(item) == kAbsent) Take(pickle, item);
    const int64_t row = pickle.Folded(item);
    const bool is_one = row != kAbsent && row < static_cast<int64_t>(snapshot_.blocks.size()) &&
                        IsSize(snapshot_.blocks[static_cast<size_t>(row)].bytes);
    if (!is_one) ++snapshot_.bad_rows;
    return is_one ? &snapshot_.blocks[static_cast<size_t>(row)] : nullptr;
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
      Block* const block = BlockOf(pickle, item);
      if (block == nullptr || block->device >= 0) continue;
      if (block->address == kAbsent) block->address = next;
      block->device = number, block->segment = start;
      next = static_cast<int64_t>(static_cast<uint64_t>(block->address) + static_cast<uint64_t>(block->bytes));
      if (block->state.starts_with("active")) At(snapshot_.active, number) += block->requested;
    }
  }

  // Items that the list still has were not complete when they came to it, or are no events.
  void TakeEvents(Pickle& pickle, PickleValue list, int32_t device) {
    for (const PickleValue& item : pickle.Items(list))
      if (pickle.Folded(item) == kAbsent) Take(pickle, item);
    TakeFromList(pickle, list);
    snapshot_.bad_rows += static_cast<int64_t>(pickle.Items(list).size());
    const auto found = list.kind == PickleValue::Kind::kList ? stretches_.find(list.index) : stretches_.end();
    if (found == stretches_.end()) return;
    for (const Stretch& stretch : found->second)
      for (int64_t row = stretch.first; row < stretch.first + stretch.count; ++row)
        GiveDevice(snapshot_.events[static_cast<size_t>(row)], device);
  }
  void GiveDevice(Event& event, int32_t device) {
    if (device >= kMaxDevices || !IsSize(event.bytes)) return void(++snapshot_.bad_rows);
    event.device = static_cast<int16_t>(device);
    snapshot_.has_times = snapshot_.has_times && event.ts_ns != kAbsent;
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
  std::unordered_map<std::u32string, size_t> known_stacks_;       // frames, to a place in stacks_
  std::unordered_map<uint32_t, std::vector<Stretch>> stretches_;  // of lists of events, by their number
  Fields fields_;
  Snapshot snapshot_;
};

}  // namespace

Result<Snapshot> ReadSnapshot(ByteStream& stream, TraceBuilder& builder, const std::atomic<bool>* cancel) {
  Taker taker(builder);
  auto pickle = Pickle::Read(
      stream, [&taker](Pickle& of, PickleValue value) { taker.Take(of, value); }, cancel, {},
      [&taker](Pickle& of, PickleValue list) { taker.TakeFromList(of, list); });
  if (!pickle) return Unexpected{pickle.error()};
  return taker.Finish(*pickle);
}

}  // namespace gapless::internal::torch_memory
