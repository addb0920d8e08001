// SPDX-License-Identifier: Apache-2.0
// Judges each distinct name once, then passes the result from parent slices to their children.
#include "analyses/surroundings.h"

#include "analyses/optimizer_updates.h"
#include "trace/marks.h"

namespace gapless::internal {
namespace {

// "AddmmBackward0", "CudnnConvolutionBackward", "autograd::engine::evaluate_function: …".
bool IsAutogradNode(std::string_view name) {
  if (name.starts_with("autograd::engine::") || name.starts_with("torch::autograd::")) return true;
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  return name.ends_with("Backward") && name.find("::") == name.npos;
}

}  // namespace

uint8_t SurroundingOf(std::string_view name) {
  uint8_t of = 0;
  if (name.starts_with("Optimizer.")) of |= kInOptimizer;
  if (IsAutogradNode(name)) of |= kInAutograd;
  if (name.ends_with("AccumulateGrad")) of |= kInAccumulateGrad;
  if (name.starts_with("CompiledFunction") || name.starts_with("Torch-Compiled Region") ||
      name.starts_with("## Call CompiledFxGraph"))
    of |= kInCompiled;
  if (IsDataLoadingMark(name)) of |= kInLoader;
  return of;
}

std::vector<uint8_t> Surroundings(const Trace& trace) {
  constexpr uint8_t kUnseen = 0xFF;
  const SliceTable& slices = trace.slices;
  std::vector<uint8_t> by_name(trace.strings.size(), kUnseen), of(slices.size());
  for (size_t row = 0; row < slices.size(); ++row) {
    uint8_t& own = by_name[static_cast<uint32_t>(slices.name[row])];
    if (own == kUnseen) {
      const std::string_view name = trace.Text(slices.name[row]);
      own = SurroundingOf(name);
      if (name.starts_with("Optimizer.step")) own &= static_cast<uint8_t>(~kInOptimizer);  // below
    }
    const SliceId parent = slices.parent[row];
    of[row] = static_cast<uint8_t>(own | (parent.valid() ? of[parent.value] : 0));
  }
  const OptimizerUpdates updates(trace);
  for (uint32_t row = 0; row < of.size() && !updates.all().empty(); ++row)
    if (updates.Holds(row)) of[row] |= kInOptimizer;
  return of;
}

}  // namespace gapless::internal
