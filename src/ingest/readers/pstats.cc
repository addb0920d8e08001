// SPDX-License-Identifier: Apache-2.0
// Reads what cProfile and profile write (python -m cProfile -o FILE, Profile.dump_stats): functions with their calls,
// own and total times, as rows of host_function.
//
// The file is one dictionary in Python's marshal format: (file, line, function) to (calls that are no recursion, calls,
// own seconds, total seconds, callers). marshal can hold code objects; here only numbers, texts, tuples and
// dictionaries are read, nothing is run, and anything else ends the reading with an error. Callers are passed over.
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/strings.h"
#include "ingest/random_access.h"
#include "ingest/reader.h"

namespace gapless::internal::pstats_reader {
namespace {

constexpr std::string_view kExtensions[] = {".prof", ".pstats"};
constexpr std::string_view kHint = "python -m cProfile -o profile.prof train.py writes one";
constexpr char kDict = '{', kTuple = '(', kSmallTuple = ')', kEnd = '0';
constexpr unsigned char kRemember = 0x80;  // the value can be referred to
constexpr int kMaxDepth = 12;
constexpr double kMaxSeconds = 1e9;

char TypeOf(char byte) { return static_cast<char>(static_cast<unsigned char>(byte) & ~kRemember); }

Sniff SniffHead(std::string_view head) {
  const bool fits =
      head.size() > 2 && TypeOf(head[0]) == kDict && (TypeOf(head[1]) == kTuple || TypeOf(head[1]) == kSmallTuple);
  return fits ? Sniff::kYes : Sniff::kNo;
}

struct Value {
  enum class Kind : uint8_t { kEnd, kNone, kWhole, kReal, kText, kTuple, kDict };
  Kind kind = Kind::kNone;
  int64_t whole = 0;
  double real = 0;
  std::string_view text{};
  std::vector<Value> items{};  // items of a tuple

  bool IsNumber() const { return kind == Kind::kWhole || kind == Kind::kReal; }
  double number() const { return kind == Kind::kReal ? real : static_cast<double>(whole); }
};

class Parser {
 public:
  Parser(std::string_view bytes, TraceBuilder& builder) : bytes_(bytes), builder_(builder) {}

  // Reads the whole dictionary; false: the file ends before, or problem() says what is not read.
  bool Run() {
    Value top;
    return Parse(top, 0) && top.kind == Value::Kind::kDict;
  }
  int64_t functions() const { return functions_; }
  size_t position() const { return at_; }
  std::string_view problem() const { return problem_; }

 private:
  bool Bad(std::string_view problem) { return problem_ = problem, false; }
  std::optional<uint64_t> Take(size_t size) {
    if (bytes_.size() - at_ < size) return std::nullopt;
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_[at_ + i]);
    at_ += size;
    return value;
  }

  bool Parse(Value& value, int depth) {
    if (depth > kMaxDepth) return Bad("values are nested too deeply");
    const auto byte = Take(1);
    if (!byte) return false;
    const bool remember = (*byte & kRemember) != 0;
    const char type = TypeOf(static_cast<char>(*byte));
    const size_t place = remembered_.size();
    if (remember) remembered_.emplace_back();  // a container has its number before its items
    if (!ParseAs(type, value, depth)) return false;
    if (remember && value.kind != Value::Kind::kDict) remembered_[place] = value;
    return true;
  }

  bool ParseAs(char type, Value& value, int depth) {
    switch (type) {
      case kEnd: return value.kind = Value::Kind::kEnd, true;
      case 'N': return true;
      case 'T':
      case 'F': return Whole(value, type == 'T' ? 1 : 0);
      case 'i': return Int32(value);
      case 'I': return Int64(value);
      case 'l': return Long(value);
      case 'g': return Real(value);
      case 's':
      case 't':
      case 'u':
      case 'a':
      case 'A': return Text(value, 4);
      case 'z':
      case 'Z': return Text(value, 1);
      case 'r': return Recall(value);
      case kTuple: return Tuple(value, 4, depth);
      case kSmallTuple: return Tuple(value, 1, depth);
      case kDict: return Dict(value, depth);
      default: return Bad(StrCat("a value of the kind '", Printable(std::string_view(&type, 1)), "'"));
    }
  }

  bool Whole(Value& value, int64_t number) {
    value.kind = Value::Kind::kWhole, value.whole = number;
    return true;
  }
  bool Int32(Value& value) {
    const auto bits = Take(4);
    return bits && Whole(value, static_cast<int32_t>(static_cast<uint32_t>(*bits)));
  }
  bool Int64(Value& value) {
    const auto bits = Take(8);
    return bits && Whole(value, static_cast<int64_t>(*bits));
  }
  // Digits of 15 bits, the lowest first; the sign is that of their count.
  bool Long(Value& value) {
    constexpr int kDigitBits = 15, kMaxDigits = 4;
    const auto bits = Take(4);
    if (!bits) return false;
    const auto count = static_cast<int32_t>(static_cast<uint32_t>(*bits));
    if (count > kMaxDigits || count < -kMaxDigits) return Bad("a number that is too large");
    int64_t number = 0;
    for (int i = 0; i < std::abs(count); ++i) {
      const auto digit = Take(2);
      if (!digit) return false;
      number |= static_cast<int64_t>(*digit) << (kDigitBits * i);
    }
    return Whole(value, count < 0 ? -number : number);
  }
  bool Real(Value& value) {
    const auto bits = Take(8);
    if (!bits) return false;
    value.kind = Value::Kind::kReal, value.real = std::bit_cast<double>(*bits);
    return true;
  }
  bool Text(Value& value, size_t bytes_of_size) {
    const auto size = Take(bytes_of_size);
    if (!size || bytes_.size() - at_ < *size) return false;
    value.kind = Value::Kind::kText, value.text = bytes_.substr(at_, *size);
    at_ += *size;
    return true;
  }
  bool Recall(Value& value) {
    const auto number = Take(4);
    if (!number) return false;
    if (*number >= remembered_.size()) return Bad("a reference to nothing");
    value = remembered_[*number];
    return true;
  }
  bool Tuple(Value& value, size_t bytes_of_size, int depth) {
    const auto count = Take(bytes_of_size);
    if (!count || *count > bytes_.size() - at_) return false;
    value.kind = Value::Kind::kTuple;
    for (uint64_t i = 0; i < *count; ++i)
      if (!Parse(value.items.emplace_back(), depth + 1)) return false;
    return true;
  }
  // The outermost dictionary gives rows as its entries come; those of callers are passed over.
  bool Dict(Value& value, int depth) {
    value.kind = Value::Kind::kDict;
    while (true) {
      Value key, entry;
      if (!Parse(key, depth + 1)) return false;
      if (key.kind == Value::Kind::kEnd) return true;
      if (!Parse(entry, depth + 1)) return false;
      if (depth == 0) AddFunction(key, entry);
    }
  }

  void AddFunction(const Value& key, const Value& entry) {
    const bool fits = key.items.size() == 3 && key.items[0].kind == Value::Kind::kText &&
                      key.items[1].kind == Value::Kind::kWhole && key.items[2].kind == Value::Kind::kText &&
                      entry.items.size() >= 4 && entry.items[1].kind == Value::Kind::kWhole &&
                      entry.items[2].IsNumber() && entry.items[3].IsNumber();
    if (!fits || !IsTime(entry.items[2]) || !IsTime(entry.items[3]))
      return builder_.Count("bad_record", Severity::kLoss, 1, static_cast<int64_t>(at_),
                            "an entry that is no function");
    ++functions_;
    const bool is_builtin = key.items[0].text == "~";  // it has no file
    builder_.AddHostFunction({.file = is_builtin ? std::string_view() : key.items[0].text,
                              .line = is_builtin ? kAbsent : key.items[1].whole,
                              .function = key.items[2].text,
                              .calls = entry.items[1].whole,
                              .self_ns = NsOf(entry.items[2]),
                              .total_ns = NsOf(entry.items[3])});
  }
  static bool IsTime(const Value& seconds) { return std::abs(seconds.number()) < kMaxSeconds; }
  static int64_t NsOf(const Value& seconds) { return std::llround(std::max(0.0, seconds.number()) * 1e9); }

  std::string_view bytes_;
  TraceBuilder& builder_;
  size_t at_ = 0;
  std::vector<Value> remembered_;
  int64_t functions_ = 0;
  std::string problem_;
};

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& /*context*/) {
  GAPLESS_ASSIGN(const std::string bytes, ReadAll(source));
  Parser parser(bytes, builder);
  const bool whole = parser.Run();
  if (parser.functions() == 0)
    return Fail(ErrorCode::kInput, "this profile of Python's cProfile holds no function", source.path(),
                std::string(kHint));
  if (!whole)
    builder.Count("damaged_input", Severity::kError, 1, static_cast<int64_t>(parser.position()),
                  parser.problem().empty() ? std::string("the profile is cut off: functions behind that are missing")
                                           : StrCat("reading stopped at ", parser.problem()));
  builder.info().event_count = parser.functions();
  builder.AddEnvironment("python.profile", "cprofile");
  return {};
}

}  // namespace

READER(pstats) = {.name = "pstats",
                  .help = "Functions of a Python program, as cProfile summed them up (python -m cProfile -o FILE)",
                  .extensions = kExtensions,
                  .sniff = SniffHead,
                  .read = Read,
                  .complete = nullptr};

}  // namespace gapless::internal::pstats_reader
