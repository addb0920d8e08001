// SPDX-License-Identifier: Apache-2.0
// Loads a server with guidellm, and takes the times of each request from its report: figures are then computed as those
// of our own loop are, and not by its definitions (store/serving_formula.h).
//
// Prompts go over in a file, because prompts that it makes itself need a tokenizer from the network. `guidellm run` is
// the command of its versions from 0.7 on.
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

constexpr size_t kLongestReport = size_t{512} << 20;
constexpr int kLastLines = 400;  // characters of what it prints that an error shows

Result<void> WritePrompts(const ServingLoad& load, const std::string& path) {
  std::ofstream out(path);
  for (size_t number = 0; number < load.warmup + load.requests; ++number) {
    std::string line;
    JsonWriter json(line);
    json.BeginObject();
    json.Field("prompt", ServingPrompt(load, number));
    json.EndObject();
    out << line << '\n';
  }
  if (!out.flush()) return Fail(ErrorCode::kEnvironment, "cannot write the prompts", path);
  return {};
}

std::vector<std::string> GuidellmCommand(const ServingLoad& load, const ServingTarget& target,
                                         const std::string& python, const std::string& folder) {
  const size_t all = load.warmup + load.requests;
  return {python,
          "-m",
          "guidellm",
          "run",
          "--backend",
          StrCat("kind=openai_http,target=", target.server, ",request_format=", target.path, ",model=", target.model,
                 ",max_tokens=", load.output_tokens),
          "--profile",
          StrCat("kind=concurrent,streams=", load.concurrency),
          "--constraint",
          StrCat("kind=max_requests,count=", all),
          "--constraint",
          StrCat("kind=max_duration,seconds=", FormatNumber(load.budget_s, 3)),
          "--data",
          StrCat("kind=json_file,path=", folder, "/prompts.jsonl"),
          "--output",
          StrCat("kind=json,path=", folder, "/report.json"),
          "--disable-console"};
}

std::optional<int64_t> NsSince(const JsonValue& time, double start_s) {
  const auto seconds = time.Number();
  return seconds ? std::optional(static_cast<int64_t>((*seconds - start_s) * 1e9)) : std::nullopt;
}

// A request of the report; absent: it was never sent.
std::optional<ServedRequest> RequestOf(const JsonValue& row, double began_s, bool failed) {
  const JsonValue& timings = row.Get("info").Get("timings");
  const auto start = timings.Get("request_start").Number();
  if (!start) return std::nullopt;
  ServedRequest request{.start_ns = static_cast<int64_t>((*start - began_s) * 1e9)};
  request.latency_ns = NsSince(timings.Get("request_end"), *start).value_or(0);
  if (const auto first = NsSince(timings.Get("first_token_iteration"), *start)) request.text_ns.push_back(*first);
  request.prompt_tokens = row.Get("prompt_tokens").Int();
  request.output_tokens = row.Get("output_tokens").Int();
  if (failed || request.text_ns.empty()) request.failure = row.Get("info").TextOf("error");
  if (request.failure.empty() && (failed || request.text_ns.empty())) request.failure = "no text";
  return request;
}

Result<void> TakeReport(const std::string& path, const ServingLoad& load, ServedLoad& result) {
  const auto json = JsonValue::Parse(ContentOf(path, kLongestReport));
  if (!json || json->Get("benchmarks").items().empty())
    return Fail(ErrorCode::kCommand, "guidellm left no report that can be read", path,
                "--generator own measures without it");
  const JsonValue& benchmark = json->Get("benchmarks").items()[0];
  const double began_s = benchmark.Get("start_time").Number().value_or(0);
  if (began_s > 0) result.start_unix_ns = static_cast<int64_t>(began_s * 1e9);
  for (const std::string_view kind : {"successful", "errored"})
    for (const JsonValue& row : benchmark.Get("requests").Get(kind).items())
      if (auto request = RequestOf(row, began_s, kind == "errored")) result.requests.push_back(std::move(*request));
  std::ranges::sort(result.requests, {}, &ServedRequest::start_ns);
  result.cut_off = benchmark.Get("requests").Get("incomplete").items().size();
  result.requests.erase(result.requests.begin(), result.requests.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                               load.warmup, result.requests.size())));
  result.ran_out = result.requests.size() < load.requests;
  return {};
}

}  // namespace

Result<ServedLoad> LoadServerWithGuidellm(const ServingLoad& load, const std::string& python) {
  GAPLESS_ASSIGN(const auto has, RunCaptured({python, "-c", "import guidellm"}, "."));
  if (has.status != 0)
    return Fail(ErrorCode::kEnvironment, "this Python has no guidellm", python,
                "python3 -m pip install guidellm, or --generator own");
  GAPLESS_ASSIGN(const ServingTarget target, FindServingTarget(load));
  GAPLESS_ASSIGN(const auto folder, TemporaryFolder::Make());
  GAPLESS_TRY(WritePrompts(load, folder.path() + "/prompts.jsonl"));
  GAPLESS_ASSIGN(const auto ran, RunCaptured(GuidellmCommand(load, target, python, folder.path()), folder.path()));
  if (ran.status != 0) {
    const size_t from = ran.text.size() > kLastLines ? ran.text.size() - kLastLines : 0;
    return Fail(ErrorCode::kCommand, StrCat("guidellm ended with ", ran.status, ": ", Printable(ran.text.substr(from))),
                "", "it wants version 0.7 or later; --generator own measures without it");
  }
  ServedLoad result{.endpoint = target.server + target.path, .model = target.model};
  GAPLESS_TRY(TakeReport(folder.path() + "/report.json", load, result));
  return result;
}

}  // namespace gapless::internal
