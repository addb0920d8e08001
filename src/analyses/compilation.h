// SPDX-License-Identifier: Apache-2.0
// Names of slices in which PyTorch or Triton compiles.
#pragma once

#include <string_view>

namespace gapless::internal {

// Returns true if `name` is TorchDynamo's own range ("entire_frame_compile (dynamo_timed)") or the Python frame of
// TorchDynamo's, Inductor's or Triton's compiler.
inline bool IsCompilation(std::string_view name) {
  if (name.ends_with("(dynamo_timed)")) return true;
  struct Frame {
    std::string_view file, function;
  };
  constexpr Frame kFrames[] = {{"torch/_dynamo/convert_frame.py(", "): _compile"},
                               {"torch/_dynamo/convert_frame.py(", "): compile_inner"},
                               {"torch/_inductor/compile_fx.py(", "): compile_fx"},
                               {"triton/compiler/compiler.py(", "): compile"}};
  for (const Frame& frame : kFrames)
    if (name.ends_with(frame.function) && name.find(frame.file) != name.npos) return true;
  return false;
}

}  // namespace gapless::internal
