// SPDX-License-Identifier: Apache-2.0
// `bench --inference`: how the latency of requests is shown.
#pragma once

#include <string>

#include "base/describe.h"
#include "cli/benchmark.h"
#include "proof/inference.h"

namespace gapless::internal {

std::string InferenceText(const InferenceMetrics& metrics, const RunSample& sample);
extern const TypeInfo kInferenceDocument;
std::string InferenceJson(const InferenceMetrics& metrics, const RunSample& sample,
                          const std::vector<std::string>& command);

}  // namespace gapless::internal
