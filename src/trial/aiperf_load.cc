// SPDX-License-Identifier: Apache-2.0
// Loads a server with AIPerf, and takes the times of each request from profile_export.jsonl: figures are then computed
// as those of our own loop are, and not by its definitions (store/serving_formula.h).
//
// Prompts go over in a file, and tokens are those that the server counts: the tokenizer that AIPerf has with it is only
// asked for because it wants one, so that nothing is loaded from the network. A key is put into its arguments by
// Python, since everyone on the machine may read a command line.
#include <algorithm>
#include <fstream>

#include "base/json_value.h"
#include "base/json_writer.h"
#include "base/strings.h"
#include "collect/files.h"
#include "trial/captured.h"
#include "trial/serving_load.h"

namespace gapless::internal {
namespace {

constexpr size_t kLongestExport = size_t{512} << 20;
constexpr int kShownOfAiperf = 400;  // characters of what it prints that an error shows
constexpr double kMsInNs = 1e6;
constexpr const char* kRunAiperf =
    "import os, runpy, sys\n"
    "name = sys.argv.pop(1)\n"
    "if name: sys.argv += ['--api-key', os.environ[name]]\n"
    "runpy.run_module('aiperf', run_name='__main__', alter_sys=True)\n";

Result<void> WriteTexts(const ServingLoad& load, const std::string& path) {
  std::ofstream out(path);
  for (size_t number = 0; number < load.warmup + load.requests; ++number) {
    std::string line;
    JsonWriter json(line);
    json.BeginObject();
    json.Field("text", ServingPrompt(load, number));
    json.EndObject();
    out << line << '\n';
  }
  if (!out.flush()) return Fail(ErrorCode::kEnvironment, "cannot write the prompts", path);
  return {};
}

std::vector<std::string> AiperfCommand(const ServingLoad& load, const ServingTarget& target, const std::string& python,
                                       const std::string& folder) {
  std::vector<std::string> command = {python, "-c", kRunAiperf, load.api_key_env, "profile"};
  const auto add = [&](std::string option, std::string value) {
    command.push_back(std::move(option));
    command.push_back(std::move(value));
  };
  add("--model", target.model);
  add("--url", target.server);
  add("--endpoint", target.path);
  add("--endpoint-type", target.chats ? "chat" : "completions");
  add("--input-file", folder + "/prompts.jsonl");
  add("--custom-dataset-type", "single_turn");
  add("--concurrency", StrCat(load.concurrency));
  add("--request-count", StrCat(load.requests));
  if (load.warmup > 0) add("--warmup-request-count", StrCat(load.warmup));  // it refuses 0
  add("--extra-inputs", StrCat("max_tokens:", load.output_tokens));
  add("--extra-inputs", "temperature:0");
  add("--request-timeout-seconds", FormatNumber(load.budget_s, 3));
  add("--tokenizer", "builtin");
  add("--ui-type", "none");
  add("--artifact-dir", folder + "/out");
  for (const char* flag : {"--streaming", "--use-server-token-count", "--no-gpu-telemetry", "--no-server-metrics"})
    command.emplace_back(flag);
  return command;
}

std::optional<double> MetricOf(const JsonValue& row, std::string_view name) {
  return row.Get("metrics").Get(name).Get("value").Number();
}

std::optional<int64_t> CountOf(const JsonValue& row, std::string_view name) {
  const auto value = MetricOf(row, name);
  return value ? std::optional(static_cast<int64_t>(*value)) : std::nullopt;
}

// The arrival of the first chunk, and of the others as far as the times between them were written.
void TakeTextTimes(const JsonValue& row, ServedRequest& request) {
  const auto first = MetricOf(row, "time_to_first_token");
  if (!first) return;
  request.text_ns.push_back(static_cast<int64_t>(*first * kMsInNs));
  for (const JsonValue& gap : row.Get("metrics").Get("inter_chunk_latency").Get("value").items())
    request.text_ns.push_back(request.text_ns.back() + static_cast<int64_t>(gap.Number().value_or(0) * kMsInNs));
}

// A request of the export; absent: one of the warm-up, or no request.
std::optional<ServedRequest> ServedFrom(const JsonValue& row) {
  const JsonValue& about = row.Get("metadata");
  const auto start = about.Get("request_start_ns").Int(), end = about.Get("request_end_ns").Int();
  const std::string phase = about.TextOf("benchmark_phase");
  if (!start || (!phase.empty() && phase != "profiling")) return std::nullopt;
  ServedRequest request{.start_ns = *start, .latency_ns = end.value_or(*start) - *start};
  if (const auto latency = MetricOf(row, "request_latency"))
    request.latency_ns = static_cast<int64_t>(*latency * kMsInNs);
  TakeTextTimes(row, request);
  request.prompt_tokens = CountOf(row, "input_sequence_length");
  request.output_tokens = CountOf(row, "output_sequence_length");
  const JsonValue& error = row.Get("error");
  if (error.is_object()) {
    const auto code = error.Get("code").Int();
    request.failure = StrCat(code ? StrCat("HTTP ", *code, " ") : "", error.TextOf("message"));
  } else if (request.text_ns.empty()) {
    request.failure = "no text";
  }
  return request;
}

Result<void> TakeExport(const std::string& path, const ServingLoad& load, ServedLoad& result) {
  const std::string content = ContentOf(path, kLongestExport);
  for (const std::string_view line : Split(content, '\n')) {
    const auto row = line.empty() ? std::nullopt : std::optional(JsonValue::Parse(line));
    if (!row || !*row) continue;
    if (auto request = ServedFrom(**row)) result.requests.push_back(std::move(*request));
  }
  if (result.requests.empty())
    return Fail(ErrorCode::kCommand, "AIPerf left no requests that can be read", path,
                "--generator own measures without it");
  std::ranges::sort(result.requests, {}, &ServedRequest::start_ns);
  const int64_t began_ns = result.requests.front().start_ns;
  result.start_unix_ns = began_ns;
  for (ServedRequest& request : result.requests) {
    request.start_ns -= began_ns;
    request.failure = WithoutKey(request.failure, load);
  }
  result.ran_out = result.requests.size() < load.requests;
  return {};
}

}  // namespace

Result<ServedLoad> LoadServerWithAiperf(const ServingLoad& load, const std::string& python) {
  GAPLESS_ASSIGN(const auto has, RunCaptured({python, "-c", "import aiperf"}, "."));
  if (has.status != 0)
    return Fail(ErrorCode::kEnvironment, "this Python has no aiperf", python,
                "python3 -m pip install aiperf, or --generator own");
  GAPLESS_ASSIGN(const ServingTarget target, FindServingTarget(load));
  GAPLESS_ASSIGN(const auto folder, TemporaryFolder::Make());
  GAPLESS_TRY(WriteTexts(load, folder.path() + "/prompts.jsonl"));
  GAPLESS_ASSIGN(const auto ran, RunCaptured(AiperfCommand(load, target, python, folder.path()), folder.path()));
  if (ran.status != 0) {
    const size_t from = ran.text.size() > kShownOfAiperf ? ran.text.size() - kShownOfAiperf : 0;
    return Fail(ErrorCode::kCommand,
                StrCat("aiperf ended with ", ran.status, ": ", Printable(WithoutKey(ran.text.substr(from), load))), "",
                "--generator own measures without it");
  }
  ServedLoad result{.endpoint = target.server + target.path, .model = target.model};
  GAPLESS_TRY(TakeExport(folder.path() + "/out/profile_export.jsonl", load, result));
  return result;
}

}  // namespace gapless::internal
