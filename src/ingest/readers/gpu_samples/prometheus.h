// SPDX-License-Identifier: Apache-2.0
// Metrics of Prometheus: what an exporter of GPUs answers, as text, and what the server answers to a query, as JSON.
#pragma once

#include <set>
#include <string>

#include "base/json_value.h"
#include "ingest/readers/gpu_samples/sink.h"

namespace gapless::internal::gpu_samples {

// `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1"} 97`, with or without a time behind it.
class MetricLines {
 public:
  explicit MetricLines(SampleSink& sink) : sink_(sink) {}
  bool TakeLine(std::string_view line);  // true: it was a metric

 private:
  SampleSink& sink_;
  std::map<int32_t, std::set<std::string>> names_;  // of the answer that is being read
  std::map<int32_t, int64_t> moments_;
};

bool HasMetrics(std::string_view head);

// {"data":{"resultType":"matrix","result":[{"metric":{…},"values":[[1700000000,"97"],…]},…]}}; false: it is none.
bool ReadPrometheusJson(const JsonValue& document, SampleSink& sink);

}  // namespace gapless::internal::gpu_samples
