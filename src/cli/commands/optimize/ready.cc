// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/optimize/ready.h"

#include <sched.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/json_value.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/loading.h"
#include "cli/own_advice.h"
#include "collect/cpu_quota.h"
#include "collect/files.h"
#include "optimize/contest.h"
#include "proof/measure.h"

namespace gapless::internal {
namespace {

// The recorder of the agent waits, warms up and records so many steps (collect/agent_options.h), then writes its file.
constexpr size_t kRecordedSteps = 5 + 3 + 6 + 2;
constexpr size_t kMaxReport = size_t{1} << 28;

FixValues NoValue(const FixContext& /*context*/) { return {.values = {""}}; }

// Returns the processors that the command may use: its affinity, and no more than the quota of its control group.
size_t ProcessorsOf(const RunRequest& request) {
  size_t processors = request.cpus.size();
  cpu_set_t ours;
  CPU_ZERO(&ours);
  if (processors == 0)
    processors = ::sched_getaffinity(0, sizeof ours, &ours) == 0 ? static_cast<size_t>(CPU_COUNT(&ours)) : 1;
  const auto quota = CpuQuota({});
  return quota ? std::clamp<size_t>(static_cast<size_t>(std::ceil(*quota)), 1, processors) : processors;
}

Bottleneck BottleneckFrom(const JsonValue& value) {
  Bottleneck found{.id = value.TextOf("id"), .title = value.TextOf("title")};
  found.severity = value.Get("severity").Number().value_or(0);
  found.share_of_step = value.Get("share_of_step").Number();
  for (const JsonValue& one : value.Get("recommendations").items())
    found.recommendations.push_back({one.TextOf("text"), one.TextOf("fix"), one.TextOf("code"), one.TextOf("effort")});
  const JsonValue& gain = value.Get("gain");
  if (const auto expected = gain.Get("expected").Number())
    found.gain = Gain{.low = gain.Get("low").Number().value_or(1),
                      .expected = *expected,
                      .high = gain.Get("high").Number().value_or(*expected),
                      .method = gain.TextOf("method")};
  return found;
}

// Names of all operators; none where a compiler has replaced some of them.
std::vector<std::string> OperatorsOf(const Run& run) {
  std::set<std::string, std::less<>> names;
  for (const RunTrace& trace : run.traces()) {
    const SliceTable& slices = trace.trace->slices;
    std::set<StringId> seen;
    for (size_t row = 0; row < slices.size(); ++row) {
      if (!seen.insert(slices.name[row]).second) continue;
      const std::string_view name = trace.trace->strings[slices.name[row]];
      if (name.find("CompiledF") != name.npos || name.find("ompiled Region") != name.npos) return {};
      if (name.starts_with("aten::")) names.emplace(name);
    }
  }
  return {names.begin(), names.end()};
}

bool IsName(std::string_view text) {
  return !text.empty() && std::islower(static_cast<unsigned char>(text[0])) != 0 &&
         std::ranges::all_of(text, [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; });
}

}  // namespace

Result<ProfiledJob> Record(const RunRequest& request, const std::string& folder, bool profile,
                           const Arguments& arguments, const Session& session) {
  ProfiledJob recorded;
  RunRequest once = request;
  once.folder = folder;
  once.record = profile;
  once.warmup = 0;
  once.measure = kRecordedSteps;
  auto sample = RunOnce(once);
  if (!sample) return Unexpected{sample.error()};
  if (sample->interrupted || !Succeeded(*sample)) return FailureOf(*sample, request.command);
  recorded.sample = std::move(*sample);
  if (!profile) return recorded;
  auto loaded = LoadFor(arguments, session, {&folder, 1});
  if (!loaded) {  // a fix is found without, too: by trying
    log::Warning(StrCat("nothing is predicted: ", loaded.error().ToString()));
    return recorded;
  }
  recorded.loaded = std::make_unique<LoadedRun>(std::move(*loaded));
  recorded.tables = std::make_unique<Tables>(recorded.loaded->run);
  recorded.advice.emplace(*recorded.tables, LedgerWithOwn(""));
  recorded.bottlenecks = recorded.advice->Conclude({}).diagnosis.bottlenecks;
  return recorded;
}

Result<std::vector<Bottleneck>> BottlenecksFrom(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return Fail(ErrorCode::kInput, "there is no such file", path, "gapless analyze RUN --json=FILE writes one");
  const auto report = JsonValue::Parse(ContentOf(path, kMaxReport));
  if (!report) return Fail(ErrorCode::kInput, StrCat("this report cannot be read: ", report.error().message), path);
  if (!report->Get("bottlenecks").is_array())
    return Fail(ErrorCode::kInput, "there are no bottlenecks in this file", path,
                "gapless analyze RUN --json=FILE writes one");
  std::vector<Bottleneck> bottlenecks;
  for (const JsonValue& one : report->Get("bottlenecks").items()) bottlenecks.push_back(BottleneckFrom(one));
  return bottlenecks;
}

FixContext ContextOf(const ProfiledJob& recorded, const RunRequest& request) {
  FixContext context{.cpus = ProcessorsOf(request), .ranks = std::max<size_t>(1, recorded.sample.ranks)};
  if (recorded.sample.source == SampleSource::kSteps) {
    context.loaders = recorded.sample.loaders.size();
    for (const int64_t workers : recorded.sample.loaders)
      context.loader_workers = std::max(context.loader_workers, static_cast<size_t>(std::max<int64_t>(0, workers)));
  }
  if (recorded.sample.host_threads && *recorded.sample.host_threads > 0)
    context.threads = static_cast<size_t>(*recorded.sample.host_threads);
  const std::string_view versions = recorded.sample.versions;
  const size_t torch = versions.find("torch ");
  if (torch != versions.npos) context.torch_version = versions.substr(torch + 6);
  const std::string cpu = ContentOf("/proc/cpuinfo");
  context.bf16_cpu = cpu.find("avx512_bf16") != cpu.npos || cpu.find("amx_bf16") != cpu.npos;
  if (!recorded.loaded) return context;
  context.operators = OperatorsOf(recorded.loaded->run);
  context.shares = HostSharesOf(recorded.loaded->run);
  for (const RunTrace& trace : recorded.loaded->run.traces()) {
    context.gpu = context.gpu || trace.trace->gpu_ops.size() > 0;
    const DeviceTable& devices = trace.trace->devices;
    if (devices.size() == 0 || context.compute_major > 0 || devices.compute_major[0] == kAbsent32) continue;
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

Result<OwnFixes> OwnFixesFrom(const std::vector<std::string>& words) {
  OwnFixes own;
  for (const std::string& word : words) {
    const size_t equals = word.rfind('=');
    const std::string path = Absolute(word.substr(0, equals));
    const std::string_view kind =
        equals == word.npos ? NameOf(FixClass::kRounding) : std::string_view(word).substr(equals + 1);
    std::error_code error;
    if (!path.ends_with(".py") || !std::filesystem::is_regular_file(path, error))
      return Fail(ErrorCode::kUsage, "--fix takes a Python file", path,
                  "docs/OPTIMIZATION_GUIDE.md says what is in it");
    const auto safety = AllowedChangeNamed(kind);
    if (!safety) return Fail(ErrorCode::kUsage, "a fix is exact, rounding, stochastic or training", std::string(kind));
    auto name = std::make_unique<std::string>(std::filesystem::path(path).stem().string());
    if (!IsName(*name)) return Fail(ErrorCode::kUsage, "the name of a fix is of a-z, 0-9 and _", *name);
    if (FindFix(*name) != nullptr) return Fail(ErrorCode::kUsage, "there is a fix of this name already", *name);
    auto file = std::make_unique<std::string>(path);
    own.fixes.push_back({.name = *name,
                         .value = "[V]",
                         .help = "a fix of the user's own",
                         .safety = *safety,
                         .order = 1000,
                         .values = NoValue,
                         .own_file = *file});
    own.names.push_back(std::move(name));
    own.names.push_back(std::move(file));
  }
  return own;
}

}  // namespace gapless::internal
