// SPDX-License-Identifier: Apache-2.0
// Parses the recorders' JSON texts of shapes, types and values. Text that is malformed, or sizes out of range, give no
// input.
#include "analyses/shapes.h"

#include <algorithm>
#include <charconv>

namespace gapless::internal {

namespace {

// Walks one JSON text of nested lists of integers and texts.
class ListReader {
 public:
  explicit ListReader(std::string_view text) : text_(text) {}

  char Peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == ',')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  bool TakeInt(int64_t& value) {
    Peek();
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) return false;
    at_ = static_cast<size_t>(end - text_.data());
    return true;
  }
  // Without the quotes; escapes are kept.
  bool TakeText(std::string_view& text) {
    if (!Take('"')) return false;
    const size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = at_ < text_.size() ? at_ : text_.size();
    text = text_.substr(start, at_ - start);
    return Take('"');
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

constexpr int64_t kMaxSize = int64_t{1} << 40;

bool ReadShape(ListReader& in, Shape& shape) {
  if (!in.Take('[')) return false;
  for (int64_t size = 0; !in.Take(']'); shape.push_back(size))
    if (!in.TakeInt(size) || size < 0 || size > kMaxSize) return false;
  return true;
}

bool ReadShapeOrList(ListReader& in, Input& input) {
  ListReader ahead = in;
  if (ahead.Take('[') && ahead.Peek() == '[') {
    in = ahead;
    while (!in.Take(']'))
      if (!ReadShape(in, input.list.emplace_back())) return false;
    return true;
  }
  return ReadShape(in, input.shape);
}

bool ReadShapes(std::string_view text, std::vector<Input>& inputs) {
  ListReader in(text);
  if (!in.Take('[')) return false;
  while (!in.Take(']'))
    if (!ReadShapeOrList(in, inputs.emplace_back())) return false;
  return true;
}

std::vector<std::string_view> ReadTexts(std::string_view text) {
  ListReader in(text);
  std::vector<std::string_view> texts;
  if (!in.Take('[')) return texts;
  while (in.Peek() != ']' && in.Peek() != '\0') {
    std::string_view type;
    if (in.Peek() == '[') {  // a list: its first element stands for it
      in.Take('[');
      for (std::string_view member; in.Peek() != ']'; type = type.empty() ? member : type)
        if (!in.TakeText(member)) return {};
      in.Take(']');
    } else if (!in.TakeText(type)) {
      return {};
    }
    texts.push_back(type);
  }
  return texts;
}

struct Written {
  std::string_view name;
  ElementType type;
};
using enum ElementType;
constexpr Written kWritten[] = {
    {"float", kFp32},          {"double", kFp64},       {"Half", kFp16},       {"BFloat16", kBf16},
    {"long int", kInt64},      {"long", kInt64},        {"int", kInt32},       {"short int", kInt16},
    {"short", kInt16},         {"signed char", kInt8},  {"char", kInt8},       {"unsigned char", kInt8},
    {"bool", kBool},           {"Float8_e4m3fn", kFp8}, {"Float8_e5m2", kFp8}, {"Float8_e4m3fnuz", kFp8},
    {"Float8_e5m2fnuz", kFp8}, {"long long", kInt64},   {"__int64", kInt64}};

}  // namespace

std::string_view ToString(ElementType type) {
  constexpr std::string_view kNames[] = {"unknown", "fp64",  "fp32",  "fp16", "bf16", "fp8",
                                         "int64",   "int32", "int16", "int8", "bool"};
  return kNames[static_cast<size_t>(type)];
}

ElementType ElementTypeOf(std::string_view written) {
  for (const std::string_view prefix : {"struct ", "class ", "c10::", "at::"})
    if (written.starts_with(prefix)) written.remove_prefix(prefix.size());
  for (const Written& item : kWritten)
    if (item.name == written) return item.type;
  return kUnknown;
}

ElementType ElementTypeOf(KernelPrecision precision) {
  switch (precision) {
    case KernelPrecision::kFp64: return kFp64;
    case KernelPrecision::kFp32:
    case KernelPrecision::kTf32: return kFp32;
    case KernelPrecision::kFp16: return kFp16;
    case KernelPrecision::kBf16: return kBf16;
    case KernelPrecision::kFp8: return kFp8;
    case KernelPrecision::kInt8: return kInt8;
    default: return kUnknown;
  }
}

int64_t BytesOf(ElementType type) {
  constexpr int64_t kBytes[] = {0, 8, 4, 2, 2, 1, 8, 4, 2, 1, 1};
  return kBytes[static_cast<size_t>(type)];
}

bool IsFloatingPoint(ElementType type) { return type >= kFp64 && type <= kFp8; }

std::vector<Input> ReadInputs(std::string_view shapes, std::string_view types, std::string_view values) {
  std::vector<Input> inputs;
  if (!ReadShapes(shapes, inputs)) return {};
  const std::vector<std::string_view> type_texts = ReadTexts(types), value_texts = ReadTexts(values);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i < type_texts.size()) inputs[i].type = ElementTypeOf(type_texts[i]);
    if (i < value_texts.size()) inputs[i].value = value_texts[i];
  }
  return inputs;
}

int64_t Elements(const Shape& shape) {
  int64_t product = 1;
  for (const int64_t size : shape) {
    if (size > 0 && product > kMaxElements / size) return kMaxElements;
    product *= size;
  }
  return product;
}

std::vector<int64_t> ReadInts(std::string_view value) {
  ListReader in(value);
  std::vector<int64_t> ints;
  int64_t number = 0;
  if (!in.Take('['))
    return in.TakeInt(number) && in.Peek() == '\0' && number <= kMaxSize && number >= -kMaxSize
               ? std::vector<int64_t>{number}
               : ints;
  while (!in.Take(']')) {
    if (!in.TakeInt(number) || number > kMaxSize || number < -kMaxSize) return {};
    ints.push_back(number);
  }
  return ints;
}

std::vector<bool> ReadBools(std::string_view value) {
  std::vector<bool> bools;
  if (!value.starts_with('[') || !value.ends_with(']')) return bools;
  value = value.substr(1, value.size() - 2);
  while (!value.empty()) {
    const bool yes = value.starts_with("True");
    if (!yes && !value.starts_with("False")) return {};
    bools.push_back(yes);
    value.remove_prefix(std::min(value.find(", ") == value.npos ? value.size() : value.find(", ") + 2, value.size()));
  }
  return bools;
}

namespace {

TensorSize SizeOf(std::string_view shapes, std::string_view types) {
  TensorSize size;
  int64_t largest_bytes = 0;
  const auto add = [&](const Shape& shape, ElementType type) {
    const int64_t elements = Elements(shape), bytes = elements * BytesOf(type);
    if (elements > size.elements) size.elements = elements, largest_bytes = bytes;
    size.bytes += bytes;
  };
  for (const Input& input : ReadInputs(shapes, types, {})) {
    if (input.list.empty()) add(input.shape, input.type);
    for (const Shape& shape : input.list) add(shape, input.type);
  }
  size.bytes += largest_bytes;
  return size;
}

}  // namespace

const TensorSize& TensorSizes::Of(SliceId op) {
  const SliceTable& slices = trace_.slices;
  const StringId shapes = op.valid() ? slices.input_shapes[op.value] : StringId::kNone;
  const StringId types = op.valid() ? slices.input_types[op.value] : StringId::kNone;
  Known& known = known_[static_cast<uint32_t>(shapes)];
  if (!known.read || known.types != types) known = {types, true, SizeOf(trace_.Text(shapes), trace_.Text(types))};
  return known.size;
}

}  // namespace gapless::internal
