// SPDX-License-Identifier: Apache-2.0
// The machine that pickles are programs for, without the instructions that import or call.
//
// It has a stack of values, marks that say where on the stack a container's items begin, and a memo that values are put
// into and taken from by number. Bytes come from a stream through a buffer of a mebibyte. Every length is checked
// against what is really there before memory is taken for it, and the memo grows with the bytes read.
#include "ingest/pickle.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/strings.h"
#include "ingest/pickle_input.h"
#include "ingest/pickle_stack.h"
#include "trace/ids.h"

namespace gapless::internal {
namespace {

constexpr size_t kTextsAtOnce = size_t{1} << 16;
constexpr int kNewestProtocol = 5;
constexpr size_t kMaxPlainBytes = 8;  // size of a whole number that fits into 64 bits

using Kind = PickleValue::Kind;

// Instructions that import, call, or fetch from outside. pickletools has their meaning.
constexpr std::string_view ForbiddenName(unsigned char code) {
  switch (code) {
    case 'c': return "GLOBAL";
    case 0x93: return "STACK_GLOBAL";
    case 'R': return "REDUCE";
    case 'b': return "BUILD";
    case 'i': return "INST";
    case 'o': return "OBJ";
    case 0x81: return "NEWOBJ";
    case 0x92: return "NEWOBJ_EX";
    case 0x82: return "EXT1";
    case 0x83: return "EXT2";
    case 0x84: return "EXT4";
    case 'P': return "PERSID";
    case 'Q': return "BINPERSID";
    case 0x97: return "NEXT_BUFFER";
    case 0x98: return "READONLY_BUFFER";
    default: return "";
  }
}

constexpr std::array<bool, 256> kIsForbidden = [] {
  std::array<bool, 256> forbidden{};
  for (size_t code = 0; code < forbidden.size(); ++code)
    forbidden[code] = !ForbiddenName(static_cast<unsigned char>(code)).empty();
  return forbidden;
}();

[[gnu::always_inline]] inline uint64_t Little(const char* bytes, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// A whole number of two's complement.
int64_t Signed(const char* bytes, size_t size) {
  if (size == 0) return 0;
  const uint64_t value = Little(bytes, size);
  const auto unused = static_cast<int>(64 - 8 * size);
  return static_cast<int64_t>(value << unused) >> unused;
}

}  // namespace

class PickleMachine {
 public:
  PickleMachine(ByteStream& stream, const Pickle::Visit& fold, const std::atomic<bool>* cancel,
                std::span<const std::string_view> objects, const Pickle::Visit& take)
      : input_(stream), fold_(fold), take_(take), cancel_(cancel), objects_(objects) {}

  Result<Pickle> Run() {
    constexpr uint64_t kLooksUp = 1 << 16;  // instructions between two looks at `cancel`
    for (uint64_t count = 1;; ++count) {
      if (count % kLooksUp == 0 && cancel_ != nullptr && cancel_->load(std::memory_order_relaxed))
        return Fail(ErrorCode::kInterrupted, "interrupted");
      if (!input_.Need(1)) return CutOff();
      const auto code = static_cast<unsigned char>(*input_.data());
      input_.Skip(1);
      if (code == '.') break;
      if (kIsForbidden[code]) {
        const Object object = objects_.empty() ? Object::kNone : StepOfObject(code);
        if (object == Object::kTaken) continue;
        if (object == Object::kNone) return Forbidden(ForbiddenName(code));
        return problem_.empty() ? CutOff() : Damaged();
      }
      if (!Step(code)) return problem_.empty() ? CutOff() : Damaged();
    }
    if (stack_.empty()) return problem_ = "it ends without a value", Damaged();
    pickle_.root_ = stack_.back();
    return std::move(pickle_);
  }

 private:
  Unexpected CutOff() const {
    if (input_.problem()) return Unexpected{*input_.problem()};
    return Fail(ErrorCode::kInput, StrCat("the pickle is cut off after ", FormatCount(Bytes()), " bytes"));
  }
  Unexpected Damaged() const {
    return Fail(ErrorCode::kInput, StrCat("the pickle is damaged at byte ", FormatCount(Bytes()), ": ", problem_));
  }
  Unexpected Forbidden(std::string_view name) const {
    return Fail(ErrorCode::kInput,
                StrCat("the pickle would run code when it is loaded (instruction ", name, " at byte ",
                       FormatCount(Bytes()), "): only plain data is read"),
                "", "do not load it with Python either, unless you trust where it comes from");
  }
  int64_t Bytes() const { return static_cast<int64_t>(input_.position()); }
  bool Bad(std::string_view problem) { return problem_ = problem, false; }

  // The instructions that make an object of a class that is read as plain data: its name, an instance without
  // arguments, its fields. kNone: this is another class or another way of making one.
  enum class Object : uint8_t { kNone, kTaken, kDamaged };
  Object StepOfObject(unsigned char code) {
    if (code == 'c') return GlobalByLines();
    if (code == 0x93 && stack_.size() >= Floor() + 2) {
      const std::string name = StrCat(pickle_.Text(stack_[stack_.size() - 2]), ".", pickle_.Text(stack_.back()));
      stack_.resize(stack_.size() - 2);
      return PushClass(name);
    }
    if (code == 0x81 && stack_.size() >= Floor() + 2) {
      const bool plain = IsClass(stack_[stack_.size() - 2]) && stack_.back().kind == Kind::kList &&
                         pickle_.Items(stack_.back()).empty();
      if (!plain) return Object::kNone;
      stack_.resize(stack_.size() - 2);
      return PushContainer(Kind::kDict) ? Object::kTaken : Object::kDamaged;
    }
    if (code != 'b' || stack_.size() < Floor() + 2) return Object::kNone;
    if (stack_.back().kind != Kind::kDict || stack_[stack_.size() - 2].kind != Kind::kDict) return Object::kNone;
    const std::span<const PickleValue> fields = pickle_.Items(stack_.back());
    const std::vector<PickleValue> copy(fields.begin(), fields.end());
    stack_.pop_back();
    std::vector<PickleValue>* const items = ItemsAt(stack_.size() - 1, Kind::kDict);
    if (items == nullptr) return Object::kDamaged;
    items->insert(items->end(), copy.begin(), copy.end());
    return Object::kTaken;
  }
  Object GlobalByLines() {
    std::string module;
    if (!input_.TakeLine(module) || !input_.TakeLine(line_)) return Object::kDamaged;
    return PushClass(StrCat(module, ".", line_));
  }
  Object PushClass(std::string_view name) {
    if (std::ranges::find(objects_, name) == objects_.end()) return Object::kNone;
    PickleValue value{.kind = Kind::kOther};
    value.integer = kClass;
    return Push(value) ? Object::kTaken : Object::kDamaged;
  }
  static constexpr int64_t kClass = 1;
  static bool IsClass(PickleValue value) { return value.kind == Kind::kOther && value.integer == kClass; }

  // Runs one instruction; false: the input ends, or problem_ says what is wrong.
  [[gnu::always_inline]] bool Step(unsigned char code) {
    switch (code) {
      case 'h': return input_.Need(1) && Recall(TakeLittle(1));  // these make up most of every recording
      case 'j': return input_.Need(4) && Recall(TakeLittle(4));
      case 'K': return Whole(1);
      case 'M': return Whole(2);
      case 'J': return input_.Need(4) && PushWhole(Kind::kInt, Signed(input_.data(), 4)) && Skipped(4);
      case 0x8a: return Long(1);
      case 0x80: return Protocol();
      case 0x95: return input_.Need(8) && (input_.Skip(8), true);  // FRAME: the bytes follow as they are
      case '(': return marks_.push_back(stack_.size()), true;
      case '0': return Pop();
      case '1': return PopMark();
      case '2': return !stack_.empty() ? Push(stack_.back()) : Bad("nothing to double");
      case 'N': return Push({});
      case 0x88: return PushWhole(Kind::kBool, 1);
      case 0x89: return PushWhole(Kind::kBool, 0);
      case '}': return PushContainer(Kind::kDict);
      case ']':
      case ')':
      case 0x8f: return PushContainer(Kind::kList);
      case 'a': return Append(1);
      case 'e':
      case 0x90: return AppendMarked();
      case 's': return SetItem();
      case 'u': return SetItems();
      case 'd': return Collect(Kind::kDict);
      case 'l':
      case 't':
      case 0x91: return Collect(Kind::kList);
      case 0x85: return Tuple(1);
      case 0x86: return Tuple(2);
      case 0x87: return Tuple(3);
      case 0x94: return Memoize(memo_.size());
      case 'q': return input_.Need(1) && Memoize(TakeLittle(1));
      case 'r': return input_.Need(4) && Memoize(TakeLittle(4));
      default: return Scalar(code) || (problem_.empty() && MemoStep(code));
    }
  }

  // Numbers and texts. False with unknown_ set: the instruction is none of these.
  bool Scalar(unsigned char code) {
    unknown_ = false;
    switch (code) {
      case 'I':
      case 'L': return Decimal();
      case 0x8b: return Long(4);
      case 'F': return DecimalReal();
      case 'G': return Real();
      case 'X': return SizedText(4, Kind::kText);
      case 0x8c: return SizedText(1, Kind::kText);
      case 0x8d: return SizedText(8, Kind::kText);
      case 'U': return SizedText(1, Kind::kText);
      case 'T': return SizedText(4, Kind::kText);
      case 'C': return SizedText(1, Kind::kOther);
      case 'B': return SizedText(4, Kind::kOther);
      case 0x8e:
      case 0x96: return SizedText(8, Kind::kOther);
      case 'S':
      case 'V': return LineText();
      default: return unknown_ = true, false;
    }
  }

  // The memo of protocol 0.
  bool MemoStep(unsigned char code) {
    if (!unknown_) return false;
    switch (code) {
      case 'p': return LineNumber() && Memoize(line_number_);
      case 'g': return LineNumber() && Recall(line_number_);
      default: return Bad(StrCat("there is no instruction ", int{code}));
    }
  }

  bool Skipped(size_t size) { return input_.Skip(size), true; }
  [[gnu::always_inline]] uint64_t TakeLittle(size_t size) {
    const uint64_t value = Little(input_.data(), size);
    input_.Skip(size);
    return value;
  }

  bool Protocol() {
    if (!input_.Need(1)) return false;
    const uint64_t protocol = TakeLittle(1);
    return protocol <= kNewestProtocol || Bad(StrCat("it is of protocol ", static_cast<int64_t>(protocol)));
  }

  [[gnu::always_inline]] bool Push(PickleValue value) { return stack_.push_back(value), true; }
  [[gnu::always_inline]] bool PushWhole(Kind kind, int64_t number) {
    PickleValue value{.kind = kind};
    value.integer = number;
    return Push(value);
  }
  bool PushContainer(Kind kind) {
    pickle_.containers_.emplace_back();
    return Push({.kind = kind, .index = static_cast<uint32_t>(pickle_.containers_.size() - 1)});
  }
  size_t Floor() const { return marks_.empty() ? 0 : marks_.back(); }
  bool Pop() {
    if (stack_.size() > Floor()) return stack_.pop_back(), true;
    if (marks_.empty()) return Bad("nothing to take off");
    return marks_.pop_back(), true;
  }
  bool PopMark() {
    if (marks_.empty()) return Bad("no mark");
    stack_.resize(marks_.back());
    return marks_.pop_back(), true;
  }

  [[gnu::always_inline]] bool Whole(size_t size) {
    return input_.Need(size) && PushWhole(Kind::kInt, static_cast<int64_t>(TakeLittle(size)));
  }
  // A number of more than 64 bits is kept as something else.
  bool Long(size_t bytes_of_size) {
    if (!input_.Need(bytes_of_size)) return false;
    const uint64_t size = TakeLittle(bytes_of_size);
    if (size > kMaxPlainBytes) return Discard(size) && Push({.kind = Kind::kOther});
    if (!input_.Need(size)) return false;
    return PushWhole(Kind::kInt, Signed(input_.data(), size)) && Skipped(size);
  }
  bool Real() {
    if (!input_.Need(8)) return false;
    uint64_t bits = 0;
    for (size_t i = 0; i < 8; ++i) bits = bits << 8 | static_cast<unsigned char>(input_.data()[i]);
    PickleValue value{.kind = Kind::kReal};
    value.integer = std::bit_cast<int64_t>(bits);
    return Push(value) && Skipped(8);
  }
  bool Decimal() {
    if (!input_.TakeLine(line_)) return false;
    if (line_ == "00" || line_ == "01") return PushWhole(Kind::kBool, line_[1] - '0');
    if (line_.ends_with('L')) line_.pop_back();
    int64_t number = 0;
    const auto [end, error] = std::from_chars(line_.data(), line_.data() + line_.size(), number);
    if (error == std::errc::result_out_of_range) return Push({.kind = Kind::kOther});
    if (error != std::errc() || end != line_.data() + line_.size()) return Bad("a number is none");
    return PushWhole(Kind::kInt, number);
  }
  bool DecimalReal() {
    if (!input_.TakeLine(line_)) return false;
    PickleValue value{.kind = Kind::kReal};
    double number = 0;
    if (std::from_chars(line_.data(), line_.data() + line_.size(), number).ec != std::errc())
      return Bad("a number is none");
    value.integer = std::bit_cast<int64_t>(number);
    return Push(value);
  }
  bool LineNumber() {
    if (!input_.TakeLine(line_)) return false;
    const auto [end, error] = std::from_chars(line_.data(), line_.data() + line_.size(), line_number_);
    return (error == std::errc() && end == line_.data() + line_.size()) || Bad("a number of the memo is none");
  }

  bool Discard(uint64_t size) {
    while (size > 0) {
      const size_t part = std::min<uint64_t>(size, PickleInput::kAtOnce / 2);
      if (!input_.Need(part)) return false;
      input_.Skip(part), size -= part;
    }
    return true;
  }
  // Texts of Python 2 have no quotes here; bytes are not kept, as no recording has any.
  bool SizedText(size_t bytes_of_size, Kind kind) {
    if (!input_.Need(bytes_of_size)) return false;
    const uint64_t size = TakeLittle(bytes_of_size);
    if (kind == Kind::kOther) return Discard(size) && Push({.kind = kind});
    if (size > PickleInput::kMaxTextBytes) return Bad("a text is longer than 1 GiB");
    line_.clear();
    return input_.Take(size, line_) && PushText(line_);
  }
  bool LineText() {
    if (!input_.TakeLine(line_)) return false;
    std::string_view text = line_;
    if (text.size() >= 2 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0])
      text = text.substr(1, text.size() - 2);
    return PushText(text);
  }
  bool PushText(std::string_view text) {
    if (pickle_.held_.empty() || pickle_.held_.back().capacity() - pickle_.held_.back().size() < text.size())
      pickle_.held_.emplace_back().reserve(std::max(kTextsAtOnce, text.size()));
    std::string& held = pickle_.held_.back();
    const size_t from = held.size();
    held.append(text);
    pickle_.texts_.push_back(std::string_view(held).substr(from));
    return Push({.kind = Kind::kText, .index = static_cast<uint32_t>(pickle_.texts_.size() - 1)});
  }

  std::vector<PickleValue>* ItemsAt(size_t place, Kind kind) {
    if (place >= stack_.size() || stack_[place].kind != kind) return Bad("items without a container"), nullptr;
    return &pickle_.ItemsOf(pickle_.containers_[stack_[place].index]);
  }
  // Moves what stands above `from` into the container below it.
  bool MoveInto(size_t from, Kind kind) {
    std::vector<PickleValue>* const items =
        from == 0 ? (Bad("items without a container"), nullptr) : ItemsAt(from - 1, kind);
    if (items == nullptr) return false;
    if (kind == Kind::kDict && (stack_.size() - from) % 2 != 0) return Bad("a key without a value");
    const std::span<const PickleValue> above = stack_.From(from);
    items->insert(items->end(), above.begin(), above.end());
    stack_.resize(from);
    return true;
  }
  // Items came to the list on top.
  bool Appended() {
    if (take_) take_(pickle_, stack_.back());
    return true;
  }
  bool Append(size_t count) {
    if (stack_.size() < Floor() + count + 1) return Bad("nothing to append");
    return MoveInto(stack_.size() - count, Kind::kList) && Appended();
  }
  bool TakeMark(size_t& from) {
    if (marks_.empty()) return Bad("no mark");
    from = marks_.back();
    return marks_.pop_back(), true;
  }
  bool AppendMarked() {
    size_t from = 0;
    return TakeMark(from) && MoveInto(from, Kind::kList) && Appended();
  }
  bool SetItem() {
    return stack_.size() >= Floor() + 3 ? MoveInto(stack_.size() - 2, Kind::kDict) : Bad("nothing to set");
  }
  // A dictionary whose items come at once is complete then. One that is folded never has its items anywhere but on the
  // stack.
  bool SetItems() {
    size_t from = 0;
    if (!TakeMark(from)) return false;
    if (!fold_ || from == 0 || !IsEmptyDict(stack_[from - 1]) || (stack_.size() - from) % 2 != 0) {
      if (!MoveInto(from, Kind::kDict)) return false;
      if (fold_) fold_(pickle_, stack_.back());
      return true;
    }
    const PickleValue dictionary = stack_[from - 1];
    pickle_.pending_ = dictionary.index, pickle_.pending_items_ = stack_.From(from);
    fold_(pickle_, dictionary);
    pickle_.pending_ = Pickle::kNothing, pickle_.pending_items_ = {};
    if (!pickle_.containers_[dictionary.index].is_folded()) return MoveInto(from, Kind::kDict);
    return stack_.resize(from), true;
  }
  bool IsEmptyDict(PickleValue value) const {
    if (value.kind != Kind::kDict) return false;
    const Pickle::Container& container = pickle_.containers_[value.index];
    return !container.is_folded() && (container.items() == nullptr || container.items()->empty());
  }
  bool Collect(Kind kind) {
    size_t from = 0;
    if (!TakeMark(from)) return false;
    return CollectFrom(from, kind);
  }
  bool Tuple(size_t count) {
    return stack_.size() >= Floor() + count ? CollectFrom(stack_.size() - count, Kind::kList) : Bad("too few items");
  }
  bool CollectFrom(size_t from, Kind kind) {
    if (kind == Kind::kDict && (stack_.size() - from) % 2 != 0) return Bad("a key without a value");
    pickle_.containers_.emplace_back();
    const std::span<const PickleValue> above = stack_.From(from);
    pickle_.ItemsOf(pickle_.containers_.back()).assign(above.begin(), above.end());
    stack_.resize(from);
    return Push({.kind = kind, .index = static_cast<uint32_t>(pickle_.containers_.size() - 1)});
  }

  bool Memoize(uint64_t number) {
    if (stack_.empty()) return Bad("nothing to remember");
    if (number > input_.position()) return Bad("the memo has no such place");
    memo_.Set(number, stack_.back());
    return true;
  }
  [[gnu::always_inline]] bool Recall(uint64_t number) {
    return number < memo_.size() ? Push(memo_.Get(number)) : Bad("the memo has no such place");
  }

  PickleInput input_;
  const Pickle::Visit& fold_;
  const Pickle::Visit& take_;
  const std::atomic<bool>* cancel_;
  std::span<const std::string_view> objects_;
  Pickle pickle_;
  PickleStack stack_;
  PickleMemo memo_;
  std::vector<size_t> marks_;
  std::string line_;
  uint64_t line_number_ = 0;
  std::string problem_;
  bool unknown_ = false;
};

Result<Pickle> Pickle::Read(ByteStream& stream, const Visit& fold, const std::atomic<bool>* cancel,
                            std::span<const std::string_view> objects, const Visit& take) {
  return PickleMachine(stream, fold, cancel, objects, take).Run();
}

bool Pickle::LooksLikeOne(std::string_view head) {
  constexpr size_t kShortest = 3;
  return head.size() >= kShortest && head[0] == '\x80' && head[1] >= 2 && head[1] <= kNewestProtocol;
}

}  // namespace gapless::internal
