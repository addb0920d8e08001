// SPDX-License-Identifier: Apache-2.0
// Runs the command once, recorded or not, and derives the facts that the planner needs: processors, threads, loaders,
// operators, GPU.
//
// A recording that cannot be read leaves a warning instead of an error: fixes can be tried without predictions. Without
// a recording no kernel is known, so that the context has neither a GPU nor operators nor shares of the host's time.
#include "flows/profiled_job.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/json_value.h"
#include "base/portable.h"
#include "base/strings.h"
#include "collect/cpu_quota.h"
#include "collect/files.h"
#include "predict/host_use.h"
#include "proof/measure.h"
#include "trace/formats.h"
#include "trace/workload.h"

namespace gapless::internal {
namespace {

// The agent's recorder waits, warms up and records; then it writes its file (collect/agent_options.h). The sum is its
// number of steps.
constexpr size_t kRecordedSteps = 5 + 3 + 6 + 2;
// Largest report that is read, in bytes.
constexpr size_t kMaxReport = size_t{1} << 28;

// Returns the processors that the command may use: its affinity, and no more than the quota of its control group.
size_t ProcessorsOf(const RunRequest& request) {
  size_t processors = request.cpus.size();
  if (processors == 0) processors = static_cast<size_t>(std::max(1, AllowedProcessors()));
  const auto quota = CpuQuota({});
  return quota ? std::clamp<size_t>(static_cast<size_t>(std::ceil(*quota)), 1, processors) : processors;
}

// Returns the packages that our agent named, with their versions; absent: it named none, or is an older one.
auto PackagesOf(const Trace& trace) -> decltype(FixContext::packages) {
  const std::string_view text = EnvironmentOf(trace, kPackagesKey);
  if (text.empty()) return std::nullopt;
  std::map<std::string, std::string, std::less<>> packages;
  for (std::string_view package : Split(text, ',')) {
    if (package.starts_with(' ')) package.remove_prefix(1);
    if (const size_t space = package.find(' '); space != package.npos)
      packages.emplace(package.substr(0, space), package.substr(space + 1));
  }
  return packages;
}

// Reads the members that order fixes from one bottleneck of a JSON report; evidence and description are left out.
Bottleneck BottleneckFrom(const JsonValue& value) {
  Bottleneck found{.id = value.TextOf("id"), .title = value.TextOf("title")};
  found.severity = value.Get("severity").Number().value_or(0);
  found.share_of_step = value.Get("share_of_step").Number();
  for (const JsonValue& json_value : value.Get("recommendations").items())
    found.recommendations.push_back(
        {json_value.TextOf("text"), json_value.TextOf("fix"), json_value.TextOf("code"), json_value.TextOf("effort")});
  const JsonValue& gain = value.Get("gain");
  if (const auto expected = gain.Get("expected").Number())
    found.gain = Gain{.low = gain.Get("low").Number().value_or(1),
                      .expected = *expected,
                      .high = gain.Get("high").Number().value_or(*expected),
                      .method = gain.TextOf("method")};
  return found;
}

// Returns the names of all operators of the run, and of its messages to other ranks. Empty if a compiled region is
// among the slices: the compiler replaces operators, so that an operator which is missing proves nothing about the
// program.
std::vector<std::string> OperatorsOf(const Run& run) {
  std::set<std::string, std::less<>> names;
  for (const RunTrace& trace : run.traces()) {
    const SliceTable& slices = trace.trace->slices;
    std::set<StringId> seen;
    for (size_t row = 0; row < slices.size(); ++row) {
      if (!seen.insert(slices.name[row]).second) continue;
      const std::string_view name = trace.trace->strings[slices.name[row]];
      // "CompiledFunction", "CompiledFunctionBackward", "## Call CompiledFxGraph" and "Torch-Compiled Region: 0/1".
      if (name.find("CompiledF") != name.npos || name.find("ompiled Region") != name.npos) return {};
      if (name.starts_with("aten::") || name.starts_with("c10d::")) names.emplace(name);
    }
  }
  return {names.begin(), names.end()};
}

// Did an optimiser of torch.optim take a step in the recording? PyTorch marks each. Absent: no operator was recorded,
// so that no marks can be expected either.
std::optional<bool> HasOptimizer(const Run& run) {
  bool operators = false;
  for (const RunTrace& trace : run.traces()) {
    const StringPool& strings = trace.trace->strings;
    for (size_t id = 0; id < strings.size(); ++id) {
      const std::string_view name = strings[static_cast<StringId>(id)];
      if (name.starts_with("Optimizer.step#")) return true;
      operators = operators || name.starts_with("aten::");
    }
  }
  return operators ? std::optional(false) : std::nullopt;
}

// Returns the outcome of one run for some steps, into `folder`.
Result<RunSample> RunForSomeSteps(const RunRequest& request, const std::string& folder, bool record) {
  RunRequest once = request;
  once.folder = folder;
  once.record = record;
  once.warmup = 0;
  once.measure = kRecordedSteps;
  auto sample = RunOnce(once);
  if (!sample) return sample;
  if (sample->interrupted || !Succeeded(*sample)) return FailureOf(*sample, request);
  return sample;
}

}  // namespace

Result<ProfiledJob> ProfileJob(const RunRequest& request, const std::string& folder, const OpenOptions& options) {
  GAPLESS_ASSIGN(auto sample, RunForSomeSteps(request, folder, true));
  ProfiledJob job{.sample = std::move(sample)};
  auto loaded = LoadRun({&folder, 1}, options);
  if (!loaded) {  // fixes can be tried without predictions
    job.warning = StrCat("nothing is predicted: ", loaded.error().ToString());
    return job;
  }
  job.analysis = std::make_unique<RunAnalysis>(std::move(*loaded), options);
  job.warning = job.analysis->tested().warning;
  job.bottlenecks = job.analysis->advice().Conclude({}).diagnosis.bottlenecks;
  return job;
}

Result<ProfiledJob> SampleJob(const RunRequest& request, const std::string& folder) {
  GAPLESS_ASSIGN(auto sample, RunForSomeSteps(request, folder, false));
  return ProfiledJob{.sample = std::move(sample)};
}

Result<std::vector<Bottleneck>> ReadBottlenecks(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return Fail(ErrorCode::kInput, "there is no such file", path, "gapless analyze RUN --json=FILE writes one");
  const auto report = JsonValue::Parse(ContentOf(path, kMaxReport));
  if (!report) return Fail(ErrorCode::kInput, StrCat("cannot read the report: ", report.error().message), path);
  if (!report->Get("bottlenecks").is_array())
    return Fail(ErrorCode::kInput, "cannot read bottlenecks: the file has none", path,
                "gapless analyze RUN --json=FILE writes one");
  std::vector<Bottleneck> bottlenecks;
  for (const JsonValue& json_value : report->Get("bottlenecks").items())
    bottlenecks.push_back(BottleneckFrom(json_value));
  return bottlenecks;
}

FixContext ContextOf(const ProfiledJob& job, const RunRequest& request) {
  FixContext context{.cpus = ProcessorsOf(request), .ranks = std::max<size_t>(1, job.sample.ranks)};
  if (job.sample.source == SampleSource::kSteps) {
    context.loaders = job.sample.loaders.size();
    // The loader with most workers stands for all, because it is the one that uses up the processors.
    for (const int64_t workers : job.sample.loaders)
      context.loader_workers = std::max(context.loader_workers, static_cast<size_t>(std::max<int64_t>(0, workers)));
  }
  if (job.sample.host_threads && *job.sample.host_threads > 0)
    context.threads = static_cast<size_t>(*job.sample.host_threads);
  const std::string_view versions = job.sample.versions;
  const size_t torch = versions.find("torch ");
  if (torch != versions.npos) context.torch_version = versions.substr(torch + 6);
  const std::string cpu = ContentOf("/proc/cpuinfo");
  context.bf16_cpu = cpu.find("avx512_bf16") != cpu.npos || cpu.find("amx_bf16") != cpu.npos;
  if (!job.analysis) return context;
  context.operators = OperatorsOf(job.analysis->run());
  context.has_optimizer = HasOptimizer(job.analysis->run());
  context.shares = HostSharesOf(job.analysis->run());
  for (const RunTrace& trace : job.analysis->run().traces()) {
    if (!context.packages) context.packages = PackagesOf(*trace.trace);
    if (!context.busy && trace.trace->steps.size() > 0) context.busy = FindHostUse(job.analysis->tables(), trace).busy;
    context.gpu = context.gpu || trace.trace->gpu_ops.size() > 0;
    const DeviceTable& devices = trace.trace->devices;
    if (devices.size() == 0 || context.compute_major > 0 || devices.compute_major[0] == kAbsent32) continue;
    // The first device with a known compute capability stands for all.
    context.compute_major = devices.compute_major[0];
    context.compute_minor = std::max(0, devices.compute_minor[0]);
  }
  return context;
}

std::string AboutOf(const FixContext& context, const RunSample& sample) {
  std::string about = StrCat(context.cpus, context.cpus == 1 ? " processor" : " processors");
  if (!sample.host.gpus.empty()) about = StrCat(sample.host.gpus.size(), " × ", sample.host.gpus[0].model);
  if (context.ranks > 1) about += StrCat(" · ", context.ranks, " ranks");
  if (!context.torch_version.empty()) about += StrCat(" · torch ", context.torch_version);
  return about;
}

}  // namespace gapless::internal
