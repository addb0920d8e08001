// SPDX-License-Identifier: Apache-2.0
// Samples as JSON: rocm-smi, amd-smi, gpustat, answers of Prometheus, and the system metrics of W&B, a document a line.
#pragma once

#include <string_view>

#include "ingest/readers/gpu_samples/sink.h"

namespace gapless::internal::gpu_samples {

// Does a text that begins with "{" or "[" name what such a document has?
bool HasJsonSamples(std::string_view head);

// Reads a document, or one a line. A line that is none is counted.
void ReadJsonSamples(std::string_view text, SampleSink& sink);

}  // namespace gapless::internal::gpu_samples
