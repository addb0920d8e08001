// SPDX-License-Identifier: Apache-2.0
// Reads the iterations with prompts of one engine, and finds each request's own among them.
#include "analyses/first_token.h"

#include <algorithm>

#include "analyses/rows/serving_phases.h"
#include "base/strings.h"
#include "trace/run.h"

namespace gapless::internal {
namespace {

constexpr int64_t kClockErrorNs = 1'000'000;  // by which an iteration may seem to begin before its request

// An iteration that computes prompts. Its place in time is that of the wall clock.
struct PromptIteration {
  int64_t start = 0, end = 0;
  int64_t requests = 0;
  std::optional<int64_t> tokens{};
};

const RunTrace* TraceWith(const Run& run, int64_t index) {
  for (const RunTrace& trace : run.traces())
    if (trace.index == index) return &trace;
  return nullptr;
}

// The recording of the iterations. Ranks of one engine have the same ones, so that the first stands for all.
Result<const RunTrace*> EngineOf(const Run& run, const ServingPhasesRows& rows, std::string_view host) {
  const RunTrace* engine = rows.rows() == 0 ? nullptr : TraceWith(run, rows.Int(0, "trace"));
  if (engine == nullptr)
    return Fail(
        ErrorCode::kInput, "the recording has no iterations of a serving engine", "",
        "gapless query RECORDING \"SELECT * FROM serving_phases\" shows those of vLLM, SGLang and TensorRT-LLM");
  const TraceInfo& info = engine->trace->info;
  if (info.start_unix_ns == kAbsent)
    return Fail(ErrorCode::kInput, "the recording does not say when it began on the wall clock", info.path,
                "requests cannot be laid over it");
  if (!info.host.empty() && !host.empty() && info.host != host)
    return Fail(ErrorCode::kInput, "requests and recording are of two machines, whose clocks are not one",
                StrCat(host, " and ", info.host), "send the requests from the machine of the server");
  return engine;
}

// The iterations with prompts of the first device of the engine, in order.
std::vector<PromptIteration> PromptsOf(const ServingPhasesRows& rows, const RunTrace& engine) {
  std::vector<PromptIteration> prompts;
  const int64_t to_unix = engine.trace->info.start_unix_ns - engine.ts_shift_ns;
  for (size_t row = 0; row < rows.rows(); ++row) {
    if (rows.Int(row, "trace") != engine.index || rows.Int(row, "device") != rows.Int(0, "device")) continue;
    if (rows.Int(row, "prefill_requests") == 0) continue;
    const int64_t start = rows.Int(row, "ts_ns") + to_unix;
    auto& prompt = prompts.emplace_back();
    prompt = {.start = start, .end = start + rows.Int(row, "dur_ns"), .requests = rows.Int(row, "prefill_requests")};
    if (!rows.IsNull(row, "prefill_tokens")) prompt.tokens = rows.Int(row, "prefill_tokens");
  }
  std::ranges::sort(prompts, {}, &PromptIteration::start);
  return prompts;
}

// The number of the first iteration of a prompt whose last one is `last`.
size_t FirstOfPrompt(std::span<const PromptIteration> prompts, const ClientRequest& request, size_t last) {
  int64_t missing = request.prompt_tokens.value_or(0);
  size_t first = last;
  for (size_t i = last + 1; i-- > 0 && prompts[i].start >= request.start_unix_ns - kClockErrorNs;) {
    if (!prompts[i].tokens || !request.prompt_tokens) break;
    first = i;
    missing -= *prompts[i].tokens;
    if (missing <= 0) break;
  }
  return first;
}

std::optional<FirstTokenParts> PartsOf(std::span<const PromptIteration> prompts, const ClientRequest& request) {
  const auto after = std::ranges::find_if(prompts, [&](const PromptIteration& prompt) {
    return prompt.start + (prompt.end - prompt.start) / 2 > request.first_token_unix_ns;
  });
  if (after == prompts.begin()) return std::nullopt;
  const auto last = static_cast<size_t>(after - prompts.begin()) - 1;
  if (prompts[last].start < request.start_unix_ns - kClockErrorNs) return std::nullopt;
  const size_t first = FirstOfPrompt(prompts, request, last);
  const int64_t begin = std::max(prompts[first].start, request.start_unix_ns);
  const int64_t end = std::min(prompts[last].end, request.first_token_unix_ns);
  FirstTokenParts parts{.prefill_ns = end - begin, .delivery_ns = request.first_token_unix_ns - end};
  int64_t covered = request.start_unix_ns;
  for (size_t i = 0; i < first; ++i) {
    const int64_t from = std::max(prompts[i].start, covered), to = std::min(prompts[i].end, begin);
    if (to <= from) continue;
    parts.others_ns += to - from, covered = to;
  }
  parts.queue_ns = begin - request.start_unix_ns - parts.others_ns;
  return parts;
}

}  // namespace

Result<FirstTokens> SplitFirstTokens(const Run& run, Tables& tables, std::span<const ClientRequest> requests,
                                     std::string_view host) {
  const auto rows = tables.Get<ServingPhasesRows>();
  GAPLESS_ASSIGN(const RunTrace* const engine, EngineOf(run, rows, host));
  const auto prompts = PromptsOf(rows, *engine);
  const std::string& recorded = engine->trace->info.host;
  FirstTokens answer{.host_is_known = !recorded.empty() && recorded == host};
  for (const ClientRequest& request : requests) {
    if (const auto parts = PartsOf(prompts, request))
      answer.requests.push_back(*parts);
    else
      ++answer.not_recorded;
  }
  if (answer.requests.empty())
    return Fail(ErrorCode::kInput, "no prompt of these requests is in the recording", engine->trace->info.path,
                "record the server while the requests are sent");
  return answer;
}

}  // namespace gapless::internal
