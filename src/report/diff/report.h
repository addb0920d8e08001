// SPDX-License-Identifier: Apache-2.0
// The answer of `gapless diff`: steps, operators, kernels and memory of two recordings side by side.
#pragma once

#include <string>
#include <vector>

#include "base/describe.h"
#include "diagnose/run_outline.h"
#include "diagnose/step_ledger.h"
#include "report/lab/lab.h"

namespace gapless::internal {

struct DiffView {
  std::string a_name{}, b_name{};  // as given
  StepLedger a{}, b{};
  std::vector<OutlineChange> operators{}, kernels{};
  std::vector<OutlineMemory> a_memory{}, b_memory{};
};

// `rows`: how many of each table are shown.
std::string DiffText(const DiffView& view, int width, size_t rows);
LabDocument DiffPage(const DiffView& view, size_t rows);
extern const TypeInfo kDiffDocument;
std::string DiffJson(const DiffView& view);

}  // namespace gapless::internal
