// SPDX-License-Identifier: Apache-2.0
// Finds the batch size by the sources of batch_size.h, in their order. One pass over the operators collects the sizes
// of first layers, attention and images. Input shapes are parsed once per distinct text.
#include "analyses/batch_size.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <vector>

#include "analyses/shapes.h"

namespace gapless::internal {
namespace {

enum class LayerKind : uint8_t { kConvolution, kEmbedding, kLinear };

struct LayerName {
  std::string_view name;
  LayerKind kind;
  size_t input, weight;  // places among its inputs
  size_t image_rank = 0;
};
constexpr LayerName kLayers[] = {{"aten::conv1d", LayerKind::kConvolution, 0, 1, 3},
                                 {"aten::conv2d", LayerKind::kConvolution, 0, 1, 4},
                                 {"aten::conv3d", LayerKind::kConvolution, 0, 1, 5},
                                 {"aten::embedding", LayerKind::kEmbedding, 1, 0},
                                 {"aten::linear", LayerKind::kLinear, 0, 1}};

// Operators whose first input is [batch, heads, length, size], [batch, length, heads, size] or scores [batch, heads,
// length, length].
bool IsAttention(std::string_view name) {
  return name.find("scaled_dot_product") != name.npos || name.ends_with("_flash_attention_forward") ||
         name.ends_with("_efficient_attention_forward") || name.ends_with("_flash_attn_forward") ||
         name == "aten::_softmax";
}

// Names of operators that only models of sequences have, in whatever library they were written.
bool IsOfSequences(std::string_view name) {
  constexpr std::string_view kWords[] = {"attention", "attn", "rotary", "rope", "kv_cache"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return name.find(word) != name.npos; });
}

constexpr size_t kFewestProducts = 3;  // forward, and backward for both factors

bool MultipliesInBatches(std::string_view name) { return name == "aten::bmm" || name == "aten::baddbmm"; }

class BatchReader {
 public:
  explicit BatchReader(const Trace& trace) : trace_(trace), role_(trace.strings.size()) {
    for (size_t id = 0; id < role_.size(); ++id) role_[id] = RoleOf(trace.strings[static_cast<StringId>(id)]);
    for (uint32_t row = 0; row < trace.slices.size(); ++row)
      if (trace.slices.category[row] == SliceCategory::kOperator) Add(row);
    const Column<GpuOpClass>& classes = trace.gpu_ops.op_class;
    sequences_ |= std::find(classes.begin(), classes.end(), GpuOpClass::kAttention) != classes.end();
  }

  std::optional<BatchSize> Find() const {
    if (layer_ == nullptr) return FromProducts();
    if (const auto found = FromLayer(); found && found->samples > 0) return found;
    return std::nullopt;
  }

 private:
  struct Role {
    const LayerName* layer = nullptr;
    bool attention = false, batched = false, of_sequences = false;
    size_t product = 0;  // place of the first matrix of a product, plus 1; 0: it is none
  };

  static Role RoleOf(std::string_view name) {
    const auto* const layer = std::find_if(std::begin(kLayers), std::end(kLayers),
                                           [&](const LayerName& layer_name) { return layer_name.name == name; });
    return {layer == std::end(kLayers) ? nullptr : layer, IsAttention(name), MultipliesInBatches(name),
            IsOfSequences(name),
            name == "aten::mm"      ? size_t{1}
            : name == "aten::addmm" ? size_t{2}
                                    : size_t{0}};
  }

  const std::vector<Input>& InputsOf(uint32_t row) {
    const StringId shapes = trace_.slices.input_shapes[row];
    const auto [at, is_new] = known_.try_emplace(static_cast<uint32_t>(shapes));
    if (is_new && shapes != StringId::kNone) at->second = ReadInputs(trace_.Text(shapes), "", "");
    return at->second;
  }

  void Add(uint32_t row) {
    now_ = row;
    const Role& role = role_[static_cast<uint32_t>(trace_.slices.name[row])];
    sequences_ |= role.of_sequences;
    if (role.layer == nullptr && !role.attention && !role.batched && role.product == 0) return;
    const std::vector<Input>& inputs = InputsOf(row);
    if (inputs.empty()) return;
    if (role.product > 0) AddProduct(inputs, role.product - 1);
    if (role.attention && inputs[0].shape.size() == 4) attention_.insert(inputs[0].shape[0]);
    if (role.attention) AddScores(inputs[0].shape);
    sequences_ |= role.batched || (role.attention && inputs[0].shape.size() >= 3);
    if (role.layer == nullptr || inputs.size() <= std::max(role.layer->input, role.layer->weight)) return;
    const Shape &input = inputs[role.layer->input].shape, &weight = inputs[role.layer->weight].shape;
    sequences_ |=
        role.layer->kind == LayerKind::kEmbedding || (role.layer->kind == LayerKind::kLinear && input.size() > 2);
    if (layer_ == nullptr) layer_ = role.layer, first_ = SliceId(row), weight_ = weight;
    if (role.layer == layer_ && weight == weight_) calls_.push_back(input);
  }

  // Keeps the sizes that all products so far have among their three dimensions.
  void AddProduct(const std::vector<Input>& inputs, size_t first) {
    if (inputs.size() < first + 2 || inputs[first].shape.size() != 2 || inputs[first + 1].shape.size() != 2) return;
    const std::set<int64_t> sizes{inputs[first].shape[0], inputs[first].shape[1], inputs[first + 1].shape[1]};
    if (products_++ == 0) in_products_ = sizes;
    std::erase_if(in_products_, [&](int64_t size) { return !sizes.contains(size); });
    if (!product_.valid()) product_ = SliceId(now_);
  }

  std::optional<BatchSize> FromProducts() const {
    if (sequences_ || products_ < kFewestProducts || in_products_.size() != 1 || *in_products_.begin() <= 1)
      return std::nullopt;
    return BatchSize{*in_products_.begin(), BatchSource::kProducts, product_};
  }

  // Scores of all heads are [batch · heads, length, length].
  void AddScores(const Shape& shape) {
    if (shape.size() == 3 && shape[1] == shape[2] && shape[1] > 1) scores_.insert({shape[0], shape[1]});
  }

  // The inputs of the first layer in all steps: the one dimension that is smaller from some call on, at its full size.
  // Only a few calls can be of a last batch: where most are smaller, a prompt is followed by single tokens.
  std::optional<int64_t> PartialBatch() const {
    const Shape& full = calls_.front();
    const Shape* partial = nullptr;
    size_t smaller = 0;
    for (const Shape& call : calls_) {
      if (call.size() != full.size()) return std::nullopt;
      if (call == full && partial != nullptr) return std::nullopt;  // not the last ones
      if (call != full && partial != nullptr && call != *partial) return std::nullopt;
      if (call != full) partial = &call, ++smaller;
    }
    if (partial == nullptr || 2 * smaller > calls_.size()) return std::nullopt;
    std::optional<int64_t> found;
    for (size_t i = 0; i < full.size(); ++i) {
      if ((*partial)[i] == full[i]) continue;
      if (found || (*partial)[i] > full[i]) return std::nullopt;
      found = full[i];
    }
    return found;
  }

  std::optional<int64_t> FromAttention(const Shape& input, bool rows_may_be_flat) const {
    if (attention_.size() != 1) return std::nullopt;
    const int64_t batch = *attention_.begin();
    if (batch <= 0) return std::nullopt;
    const size_t leading = layer_->kind == LayerKind::kEmbedding ? input.size() : input.size() - 1;
    for (size_t i = 0; i < leading; ++i)
      if (input[i] == batch) return batch;
    return rows_may_be_flat && leading == 1 && input[0] % batch == 0 ? std::optional(batch) : std::nullopt;
  }

  // With the length known, the batch is the other dimension of the first layer's input, or its rows over the length.
  std::optional<int64_t> FromScores(const Shape& input, bool rows_may_be_flat) const {
    if (!attention_.empty() || scores_.size() != 1) return std::nullopt;
    const auto [heads, length] = *scores_.begin();
    const size_t leading = layer_->kind == LayerKind::kEmbedding ? input.size() : input.size() - 1;
    int64_t batch = 0;
    if (leading == 2 && (input[0] == length || input[1] == length)) batch = input[0] == length ? input[1] : input[0];
    if (leading == 1 && rows_may_be_flat && input[0] % length == 0) batch = input[0] / length;
    return batch > 0 && heads % batch == 0 ? std::optional(batch) : std::nullopt;
  }

  // Batch and length are the same number.
  std::optional<int64_t> FromEqualSizes(const Shape& input) const {
    const size_t leading = layer_->kind == LayerKind::kEmbedding ? input.size() : input.size() - 1;
    for (size_t i = 1; i < leading; ++i)
      if (input[i] != input[0]) return std::nullopt;
    return leading > 1 && input[0] > 1 ? std::optional(input[0]) : std::nullopt;
  }

  std::optional<BatchSize> FromLayer() const {
    const Shape& input = calls_.front();
    if (layer_->kind == LayerKind::kConvolution) {
      if (input.size() < layer_->image_rank) return std::nullopt;  // one image without a batch
      return BatchSize{input[0], BatchSource::kImages, first_};
    }
    if (input.empty() || (layer_->kind == LayerKind::kLinear && input.size() < 2)) return std::nullopt;
    const bool rows_may_be_flat = input.size() == (layer_->kind == LayerKind::kEmbedding ? 1u : 2u) && sequences_;
    // Attention comes first: what is smaller in the last calls may be a shorter sequence.
    if (const auto batch = FromAttention(input, rows_may_be_flat))
      return BatchSize{*batch, BatchSource::kAttention, first_};
    if (const auto batch = FromScores(input, rows_may_be_flat))
      return BatchSize{*batch, BatchSource::kAttention, first_};
    if (!rows_may_be_flat)
      if (const auto batch = PartialBatch()) return BatchSize{*batch, BatchSource::kPartialBatch, first_};
    if (layer_->kind == LayerKind::kLinear && input.size() == 2 && !sequences_)
      return BatchSize{input[0], BatchSource::kFeatures, first_};
    if (const auto batch = FromEqualSizes(input)) return BatchSize{*batch, BatchSource::kEqual, first_};
    return std::nullopt;
  }

  const Trace& trace_;
  std::vector<Role> role_;  // by text
  std::unordered_map<uint32_t, std::vector<Input>> known_;
  const LayerName* layer_ = nullptr;
  SliceId first_;
  Shape weight_;
  std::vector<Shape> calls_;                      // inputs of the first layer, in time
  std::set<int64_t> attention_;                   // first dimension of what has four
  std::set<std::pair<int64_t, int64_t>> scores_;  // first dimension and length of square scores
  bool sequences_ = false;                        // has ids, attention or rows of rows
  std::set<int64_t> in_products_;                 // dimensions that all products of matrices share
  size_t products_ = 0;
  SliceId product_;   // the first one
  uint32_t now_ = 0;  // the operator at hand
};

std::optional<int64_t> Recorded(const Trace& trace) {
  std::vector<int64_t> sizes;
  for (size_t row = 0; row < trace.steps.size(); ++row)
    if (trace.steps.complete[row] != 0 && trace.steps.samples[row] > 0) sizes.push_back(trace.steps.samples[row]);
  if (sizes.empty()) return std::nullopt;
  std::nth_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2), sizes.end());
  return sizes[sizes.size() / 2];
}

}  // namespace

std::string_view ToString(BatchSource source) {
  constexpr std::string_view kNames[] = {"recorder", "images",   "partial_batch", "attention",
                                         "features", "products", "equal"};
  return kNames[static_cast<size_t>(source)];
}

std::optional<BatchSize> FindBatchSize(const Trace& trace) {
  if (const auto samples = Recorded(trace)) return BatchSize{*samples, BatchSource::kRecorder, SliceId{}};
  return BatchReader(trace).Find();
}

}  // namespace gapless::internal
