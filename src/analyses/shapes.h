// SPDX-License-Identifier: Apache-2.0
// Inputs of operators as recorders write them: shapes, types and values are JSON texts, one element per input.
//   shapes  [[64,3,224,224],[64,3,7,7],[],[[8,4],[8]]]  a list of tensors is a list of shapes; []: a scalar, no tensor
//   types   ["float","c10::BFloat16","ScalarList",""]
//   values  ["","","[2, 2]","False"]                    of inputs that are no tensors
// Parsing allocates: do it once per distinct text, never per event.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/enums.h"
#include "trace/trace.h"

namespace gapless::internal {

enum class ElementType : uint8_t { kUnknown, kFp64, kFp32, kFp16, kBf16, kFp8, kInt64, kInt32, kInt16, kInt8, kBool };
std::string_view ToString(ElementType type);           // "fp32", "bf16", …; "unknown"
ElementType ElementTypeOf(std::string_view written);   // "float", "c10::BFloat16", "struct c10::Half", "long int" …
ElementType ElementTypeOf(KernelPrecision precision);  // TF32 is held in float32; kMixed and kFp4: kUnknown
int64_t BytesOf(ElementType type);                     // bytes of one element; 0: unknown
bool IsFloatingPoint(ElementType type);

using Shape = std::vector<int64_t>;

struct Input {
  Shape shape;              // empty: no tensor, a scalar tensor, or a list
  std::vector<Shape> list;  // shapes of the members, if the input is a list of tensors
  ElementType type = ElementType::kUnknown;
  std::string_view value;  // "" not recorded, or a tensor

  bool is_tensor() const { return type != ElementType::kUnknown; }
};

// The inputs of one operator. Texts that cannot be read, or have sizes that cannot be, give none. `value` points into
// `values`.
std::vector<Input> ReadInputs(std::string_view shapes, std::string_view types, std::string_view values);

// Sizes beyond any device's memory are not read, and products stop here, so that sums and bytes cannot overflow.
inline constexpr int64_t kMaxElements = int64_t{1} << 50;
int64_t Elements(const Shape& shape);  // product, at most kMaxElements; 1 of a scalar

// "[2, 2]" → {2, 2}; "3" → {3}; anything else → {}.
std::vector<int64_t> ReadInts(std::string_view value);
// "[True, False]" → {true, false}; anything else → {}.
std::vector<bool> ReadBools(std::string_view value);

struct TensorSize {
  int64_t elements = 0;  // elements of the largest input; 1: scalars only; 0: shapes were not recorded
  int64_t bytes = 0;     // each input read once, and an output like the largest written; 0: types were not recorded
};

// The sizes of the tensors that operators got, where shapes were recorded. Each distinct text is read once.
class TensorSizes {
 public:
  explicit TensorSizes(const Trace& trace) : trace_(trace), known_(trace.strings.size()) {}
  const TensorSize& Of(SliceId op);

 private:
  struct Known {
    StringId types = StringId::kNone;  // with which the shapes were read last
    bool read = false;
    TensorSize size;
  };
  const Trace& trace_;
  std::vector<Known> known_;  // by text of the shapes
};

}  // namespace gapless::internal
