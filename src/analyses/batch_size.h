// SPDX-License-Identifier: Apache-2.0
// The number of samples that a step works on. The dimension of a tensor that is the batch cannot be read off its place:
// ids may be [batch, length] or [length, batch], rows of a linear layer batch · length. What counts, in this order:
//
//   1. samples per step, as the training program reported them to the recorder;
//   2. images: the first dimension of a convolution's input with all its dimensions (N in NCHW and NHWC);
//   3. attention: the first dimension of its [batch, heads, length, size] or [batch, length, heads, size], where all
//      attention agrees, and the first layer's input has it as a dimension or as a factor of its rows; of scores
//      [batch · heads, length, length] the length, which leaves the other dimension;
//   4. a last, partial batch: the one dimension of the first layer's input that is smaller in later calls, if most
//      calls have the full size (a prompt that is followed by single tokens is no batch);
//   5. features: the first dimension of a linear layer's [batch, features], in models without sequences: no attention
//      in any library, no ids, no products of batches of matrices;
//   6. products: in compiled models without sequences no layer is left, but each product of matrices, forward and
//      backward, has the batch as one of its three dimensions: the number that all of them share, if it is only one;
//   7. ids or rows of rows whose leading dimensions are all the same number, more than 1: whichever is the batch.
//
// Everything else is unknown. A single vector has no batch.
#pragma once

#include <optional>
#include <string_view>

#include "trace/ids.h"
#include "trace/trace.h"

namespace gapless::internal {

enum class BatchSource : uint8_t { kRecorder, kImages, kPartialBatch, kAttention, kFeatures, kProducts, kEqual };
std::string_view ToString(BatchSource source);

struct BatchSize {
  int64_t samples = 0;  // 1 or more
  BatchSource source = BatchSource::kRecorder;
  SliceId layer;  // the first layer; invalid if the program reported the size
};

// Returns nullopt if the batch size cannot be found. Reads all operators: call once per trace.
std::optional<BatchSize> FindBatchSize(const Trace& trace);

}  // namespace gapless::internal
