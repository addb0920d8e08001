// SPDX-License-Identifier: Apache-2.0
// Frames are known by PyTorch's own functions and files, which have kept these names since 2.0.
#include "ingest/readers/torch_memory/places.h"

#include <algorithm>
#include <string>

namespace gapless::internal::torch_memory {
namespace {

bool Has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

Place PlaceOf(std::string_view function, std::string_view given) {
  std::string file(given);
  std::ranges::replace(file, '\\', '/');
  if (Has(file, "torch/optim/")) return Place::kOptimizer;
  if (function.starts_with("torch::autograd::Engine::") || Has(function, "_engine_run_backward"))
    return Place::kBackward;
  if (function == "backward" && (Has(file, "torch/_tensor.py") || Has(file, "torch/autograd/")))
    return Place::kBackward;
  const bool of_module = Has(file, "torch/nn/modules/module.py");
  if (of_module && (function == "_apply" || function == "convert" || function == "to" || function == "cuda"))
    return Place::kModule;
  if (of_module && function.ends_with("_call_impl")) return Place::kForward;
  if (function == "__init__" || function == "reset_parameters") return Place::kModule;
  return Place::kUnknown;
}

}  // namespace gapless::internal::torch_memory
