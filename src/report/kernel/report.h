// SPDX-License-Identifier: Apache-2.0
// The output of `gapless kernel`: text and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "forge/find.h"
#include "predict/predictor.h"

namespace gapless::internal {

// The content that both formats show. The search outlives it.
struct KernelView {
  const KernelSearch* search = nullptr;
  std::vector<std::optional<StepShares>> gains{};  // of the first candidates: the step with the kernel; absent: none
  int64_t step_ns = 0;                             // of the recorded step; 0: not replayed
  std::string why_no_gain{};                       // why the recording is not replayed
  size_t shown = 10;                               // candidates in the text
  // The files that --write wrote, and their candidate.
  std::optional<size_t> written{};
  std::string folder{}, name{};
  std::vector<std::string> files{};
};

std::string KernelText(const KernelView& view, int columns);
// The document of --json.
extern const TypeInfo kKernelDocument;
std::string KernelJson(const KernelView& view);

}  // namespace gapless::internal
