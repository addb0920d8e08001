// SPDX-License-Identifier: Apache-2.0
// Implements the public analyzers over those of the same names in diagnose. Run-based ones share the tables that the
// run has already computed; the others are pure functions of their arguments.
#include "gapless/analyzers.h"

#include "api/run_state.h"
#include "diagnose/bottleneck_analyzer.h"
#include "diagnose/data_loading_analyzer.h"
#include "diagnose/kernel_analyzer.h"
#include "diagnose/multi_gpu_analyzer.h"

namespace gapless {

using internal::RunState;

std::vector<Bottleneck> KernelAnalyzer::Analyze(std::span<const KernelMetrics> kernels) {
  return internal::KernelAnalyzer::Analyze(kernels);
}

std::vector<Bottleneck> DataLoadingAnalyzer::Analyze(const Run& run) {
  return internal::DataLoadingAnalyzer::Analyze(RunState::Of(run).analysis.tables());
}

std::vector<Bottleneck> MultiGPUAnalyzer::Analyze(const Run& run, int num_gpus) {
  return internal::MultiGPUAnalyzer::Analyze(RunState::Of(run).analysis.tables(), num_gpus);
}

std::vector<Bottleneck> MultiGPUAnalyzer::Analyze(const NcclMetrics& metrics, int num_gpus) {
  return internal::MultiGPUAnalyzer::Analyze(metrics, num_gpus);
}

std::optional<double> MultiGPUAnalyzer::ScalingEfficiency(const NcclMetrics& metrics, int num_gpus) {
  return internal::MultiGPUAnalyzer::ScalingEfficiency(metrics, num_gpus);
}

std::vector<Bottleneck> BottleneckAnalyzer::AnalyzeAll(const Run& run) {
  return internal::BottleneckAnalyzer::MostSevere(RunState::Of(run).analysis.diagnosis().bottlenecks);
}

std::string BottleneckAnalyzer::GenerateReport(std::span<const Bottleneck> bottlenecks) {
  return internal::BottleneckAnalyzer::GenerateReport(bottlenecks);
}

}  // namespace gapless
