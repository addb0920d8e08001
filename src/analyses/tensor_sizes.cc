// SPDX-License-Identifier: Apache-2.0
#include "analyses/tensor_sizes.h"

#include "analyses/shapes.h"

namespace gapless::internal {
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
