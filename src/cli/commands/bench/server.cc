// SPDX-License-Identifier: Apache-2.0
// Loads a server and shows its figures, each with its formula: tools use the same words for different numbers.
#include "cli/commands/bench/server.h"

#include <charconv>
#include <cstdlib>
#include <fstream>

#include "base/described_json.h"
#include "base/redact.h"
#include "base/strings.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/python.h"
#include "collect/machine.h"
#include "proof/described.h"

namespace gapless::internal {
namespace documents {

// Names end with their unit, as the history expects of a metric.
struct ServerMetrics {
  double requests_per_second = 0;
  std::optional<double> output_tokens_per_second{};
  std::optional<double> ttft_p50{}, ttft_p95{}, ttft_p99{}, tpot_p50{}, tpot_p95{}, tpot_p99{};
  std::optional<double> itl_p50{}, itl_p95{}, itl_p99{}, latency_p50{}, latency_p95{}, latency_p99{};
  std::optional<double> good_requests_per_second{};
  static constexpr FieldInfo kFields[] = {
      Field<&ServerMetrics::requests_per_second>("requests_per_second", "1/s", "requests answered / duration_s"),
      Field<&ServerMetrics::output_tokens_per_second>("output_tokens_per_second", "1/s", "output tokens / duration_s"),
      Field<&ServerMetrics::ttft_p50>("time_to_first_token_p50_ms", "ms",
                                      "first chunk with text - start of the request; 50th percentile"),
      Field<&ServerMetrics::ttft_p95>("time_to_first_token_p95_ms", "ms", "from 20 requests"),
      Field<&ServerMetrics::ttft_p99>("time_to_first_token_p99_ms", "ms", "from 100 requests"),
      Field<&ServerMetrics::tpot_p50>("time_per_output_token_p50_ms", "ms",
                                      "(latency - time to first token) / (output tokens - 1), one value a request"),
      Field<&ServerMetrics::tpot_p95>("time_per_output_token_p95_ms", "ms", "from 20 requests"),
      Field<&ServerMetrics::tpot_p99>("time_per_output_token_p99_ms", "ms", "from 100 requests"),
      Field<&ServerMetrics::itl_p50>("inter_token_latency_p50_ms", "ms",
                                     "time between two chunks with text of an answer, those of all requests"),
      Field<&ServerMetrics::itl_p95>("inter_token_latency_p95_ms", "ms", "from 20 of them"),
      Field<&ServerMetrics::itl_p99>("inter_token_latency_p99_ms", "ms", "from 100 of them"),
      Field<&ServerMetrics::latency_p50>("latency_p50_ms", "ms", "end of the answer - start of the request"),
      Field<&ServerMetrics::latency_p95>("latency_p95_ms", "ms", "from 20 requests"),
      Field<&ServerMetrics::latency_p99>("latency_p99_ms", "ms", "from 100 requests"),
      Field<&ServerMetrics::good_requests_per_second>("good_requests_per_second", "1/s",
                                                      "goodput: requests that keep every objective / duration_s"),
  };
};

struct ServerObjectives {
  std::optional<double> ttft{}, tpot{}, latency{};
  static constexpr FieldInfo kFields[] = {
      Field<&ServerObjectives::ttft>("ttft_ms", "ms", "longest time to the first token"),
      Field<&ServerObjectives::tpot>("tpot_ms", "ms", "longest time per output token"),
      Field<&ServerObjectives::latency>("latency_ms", "ms", "longest latency"),
  };
};

// The times that all figures are computed from.
struct ServerRequest {
  double start_ms = 0, latency_ms = 0;
  std::vector<double> text_ms{};
  std::optional<int64_t> prompt_tokens{}, output_tokens{};
  static constexpr FieldInfo kFields[] = {
      Field<&ServerRequest::start_ms>("start_ms", "ms", "start of the request, from that of the load"),
      Field<&ServerRequest::latency_ms>("latency_ms", "ms", "until the answer was complete"),
      Field<&ServerRequest::text_ms>("text_ms", "ms", "arrival of each chunk with text, from the start of the request"),
      Field<&ServerRequest::prompt_tokens>("prompt_tokens", "count", "as the server counts; missing: it does not"),
      Field<&ServerRequest::output_tokens>("output_tokens", "count", "likewise"),
  };
};

struct Server {
  std::string url{}, model{};
  std::string_view generator{};
  size_t concurrency = 0, requests = 0, failed = 0, cut_off = 0;
  bool interrupted = false;
  double duration_s = 0;
  ServerMetrics metrics{};
  std::optional<ServerObjectives> slo{};
  std::optional<double> good_share{};
  std::vector<ServerRequest> each{};
  Environment environment{};
  std::optional<int64_t> start_unix_ns{};
  static constexpr FieldInfo kFields[] = {
      Field<&Server::url>("url", "", "the endpoint that was asked"),
      Field<&Server::model>("model", "", "the model that was asked"),
      Field<&Server::generator>("generator", "", "program that sent the requests: own, guidellm or aiperf"),
      Field<&Server::concurrency>("concurrency", "count", "requests under way at once"),
      Field<&Server::requests>("requests", "count", "requests that were answered after warm-up"),
      Field<&Server::failed>("failed", "count", "requests that failed: they are in no figure"),
      Field<&Server::cut_off>("cut_off", "count", "requests under way when it ended: they are in no figure"),
      Field<&Server::interrupted>("interrupted", "", "a signal ended it: true, or missing", kUnlessEmpty),
      Field<&Server::duration_s>("duration_s", "s", "from the start of the first request to the end of the last"),
      Field<&Server::metrics>("metrics", "", "the figures"),
      Field<&Server::slo>("slo", "", "the objectives that were given"),
      Field<&Server::good_share>("good_share", "share", "requests that keep every objective, of all, failed ones too"),
      Field<&Server::each>("each", "", "the requests that were answered, by their start"),
      Field<&Server::environment>("environment", "", "the client's machine"),
      Field<&Server::start_unix_ns>(
          "start_unix_ns", "ns", "start of the load on the client's wall clock; missing: the generator does not say"),
  };
};

}  // namespace documents

constinit const TypeInfo kServerDocument = describe::MakeType<documents::Server>();

namespace {

// "200ms" and "2s" in ms.
std::optional<double> MsIn(std::string_view text) {
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (code != std::errc() || !(number > 0) || (unit != "ms" && unit != "s")) return std::nullopt;
  return unit == "s" ? number * 1000 : number;
}

Result<std::vector<std::string>> PromptsOf(const std::string& path) {
  std::vector<std::string> prompts;
  if (path.empty()) return prompts;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) prompts.push_back(line);
  if (prompts.empty()) return Fail(ErrorCode::kInput, "there is no prompt in this file", path, "one prompt a line");
  return prompts;
}

std::string TimesText(std::string_view name, const ServingTimes& times, std::string_view formula) {
  if (!times.p50) return "";
  std::string text = StrCat("  ", name, std::string(24 - name.size(), ' '), FormatNumber(*times.p50, 2), " ms");
  if (times.p95) text += StrCat(", p95 ", FormatNumber(*times.p95, 2), " ms");
  if (times.p99) text += StrCat(", p99 ", FormatNumber(*times.p99, 2), " ms");
  return StrCat(text, "\n", std::string(26, ' '), "= ", formula, "\n");
}

std::string ServerText(const ServedLoad& load, const ServingMetrics& metrics, const ServerArguments& arguments) {
  std::string text = StrCat(FormatCounted(static_cast<int64_t>(metrics.requests), "request"), " to ",
                            Printable(load.model), " at ", Printable(load.endpoint), ", ", arguments.concurrency,
                            " at once, in ", FormatNumber(metrics.duration_s, 2), " s; medians:\n");
  text += TimesText("time to first token", metrics.ttft, "first chunk with text - start of the request");
  text += TimesText("time per output token", metrics.tpot, "(latency - time to first token) / (output tokens - 1)");
  text += TimesText("inter-token latency", metrics.itl, "time between two chunks of an answer");
  text += TimesText("latency", metrics.latency, "end of the answer - start of the request");
  text += StrCat("  ", FormatNumber(metrics.requests_per_second, 2), " requests a second");
  if (metrics.output_tokens_per_second)
    text += StrCat(", ", FormatNumber(*metrics.output_tokens_per_second, 1), " output tokens a second");
  text += "\n";
  if (metrics.good_share)
    text += StrCat("  goodput ", FormatNumber(*metrics.good_requests_per_second, 2),
                   " requests a second: ", FormatPercent(*metrics.good_share), " of all keep every objective\n");
  return text;
}

documents::ServerMetrics MetricsDocument(const ServingMetrics& metrics) {
  return {.requests_per_second = metrics.requests_per_second,
          .output_tokens_per_second = metrics.output_tokens_per_second,
          .ttft_p50 = metrics.ttft.p50,
          .ttft_p95 = metrics.ttft.p95,
          .ttft_p99 = metrics.ttft.p99,
          .tpot_p50 = metrics.tpot.p50,
          .tpot_p95 = metrics.tpot.p95,
          .tpot_p99 = metrics.tpot.p99,
          .itl_p50 = metrics.itl.p50,
          .itl_p95 = metrics.itl.p95,
          .itl_p99 = metrics.itl.p99,
          .latency_p50 = metrics.latency.p50,
          .latency_p95 = metrics.latency.p95,
          .latency_p99 = metrics.latency.p99,
          .good_requests_per_second = metrics.good_requests_per_second};
}

std::vector<documents::ServerRequest> RequestsDocument(const ServedLoad& load) {
  constexpr double kMs = 1e6;
  std::vector<documents::ServerRequest> each;
  for (const ServedRequest& request : load.requests) {
    if (!request.failure.empty()) continue;
    auto& row = each.emplace_back();
    row.start_ms = static_cast<double>(request.start_ns) / kMs;
    row.latency_ms = static_cast<double>(request.latency_ns) / kMs;
    for (const int64_t ns : request.text_ns) row.text_ms.push_back(static_cast<double>(ns) / kMs);
    row.prompt_tokens = request.prompt_tokens, row.output_tokens = request.output_tokens;
  }
  return each;
}

// Facts that the reader of the figures must know beside them.
std::vector<std::string> ServerWarnings(const ServedLoad& load, const ServingMetrics& metrics,
                                        const ServerArguments& arguments) {
  std::vector<std::string> warnings = metrics.failures;
  if (load.cut_off > 0)
    warnings.push_back(StrCat(FormatCounted(static_cast<int64_t>(load.cut_off), "request"), " cut off ",
                              load.interrupted ? "by the interruption" : "at the end of --budget"));
  if (!metrics.output_tokens_per_second)
    warnings.push_back("the server does not count its tokens (usage), so times and rates of tokens are not known");
  else if (arguments.slo && !metrics.good_share)
    warnings.push_back("no goodput: the tokens of some requests are not known");
  return warnings;
}

std::string ServerJson(const ServedLoad& load, const ServingMetrics& metrics, const ServerArguments& arguments,
                       const std::vector<std::string>& warnings) {
  documents::Server document{.url = load.endpoint,
                             .model = load.model,
                             .generator = OneOf<kLoadGenerators>::NameOf(arguments.generator),
                             .concurrency = arguments.concurrency,
                             .requests = metrics.requests,
                             .failed = metrics.failed,
                             .cut_off = load.cut_off,
                             .interrupted = load.interrupted,
                             .duration_s = metrics.duration_s,
                             .metrics = MetricsDocument(metrics)};
  if (arguments.slo) document.slo = {{arguments.slo->ttft_ms, arguments.slo->tpot_ms, arguments.slo->latency_ms}};
  document.good_share = metrics.good_share;
  document.each = RequestsDocument(load);
  RunSample client;
  client.host = DescribeHost();
  document.environment = EnvironmentDocument(client);
  document.start_unix_ns = load.start_unix_ns;
  return DocumentOf("bench", document, warnings);
}

Result<void> TakeKey(const ServerArguments& arguments, ServingLoad& load) {
  if (arguments.api_key_env.empty()) return {};
  const char* key = std::getenv(arguments.api_key_env.c_str());
  if (key == nullptr || *key == 0)
    return Fail(ErrorCode::kUsage, "this variable of the environment has no key", Printable(arguments.api_key_env),
                "--api-key-env takes the name of a variable, not the key itself");
  if (arguments.generator == LoadGenerator::kGuidellm)
    return Fail(ErrorCode::kUsage, "no key is handed to guidellm", "", "--generator own or --generator aiperf");
  load.api_key = key, load.api_key_env = arguments.api_key_env;
  return {};
}

Result<ServedLoad> LoadBy(LoadGenerator generator, const ServingLoad& load) {
  switch (generator) {
    case LoadGenerator::kGuidellm: return LoadServerWithGuidellm(load, PythonToUse());
    case LoadGenerator::kAiperf: return LoadServerWithAiperf(load, PythonToUse());
    case LoadGenerator::kOurs: break;
  }
  return LoadServer(load);
}

}  // namespace

Result<ServingObjectives> ReadObjectives(const OptionSpec& option, std::string_view text) {
  ServingObjectives objectives;
  for (const std::string_view item : Split(text, ',')) {
    const size_t equals = std::min(item.find('='), item.size());
    const std::string_view name = item.substr(0, equals);
    const auto ms = equals < item.size() ? MsIn(item.substr(equals + 1)) : std::nullopt;
    std::optional<double>* const place = name == "ttft"      ? &objectives.ttft_ms
                                         : name == "tpot"    ? &objectives.tpot_ms
                                         : name == "latency" ? &objectives.latency_ms
                                                             : nullptr;
    if (!ms || place == nullptr)
      return Fail(ErrorCode::kUsage,
                  StrCat("--", option.name, " takes ttft, tpot and latency with a time, not '", Printable(item), "'"),
                  "", StrCat("--", option.name, " ttft=200ms,tpot=50ms,latency=2s"));
    *place = ms;
  }
  return objectives;
}

Result<int> ExecuteServer(const ServerArguments& arguments, const Session& session) {
  if (!arguments.command.empty())
    return Fail(ErrorCode::kUsage, "--url measures a server that is running, and takes no command", "",
                "start the server yourself: gapless bench --inference --url http://localhost:8000");
  ServingLoad load{.url = arguments.url, .model = arguments.model};
  GAPLESS_ASSIGN(load.prompts, PromptsOf(arguments.prompts));
  load.concurrency = arguments.concurrency, load.requests = arguments.steps, load.warmup = arguments.warmup;
  load.output_tokens = static_cast<int64_t>(arguments.output_tokens), load.budget_s = arguments.budget;
  load.cancel = session.cancel;
  GAPLESS_TRY(TakeKey(arguments, load));
  ProgressLine progress;
  if (session.shows_progress)
    load.progress = [&, all = load.requests + load.warmup](size_t answered) {
      progress.Update("measuring", "", answered, all, [](uint64_t count) { return StrCat(count, " requests"); });
    };
  GAPLESS_ASSIGN(const auto served, LoadBy(arguments.generator, load));
  GAPLESS_ASSIGN(const auto metrics, ServingMetricsOf(served, arguments.slo.value_or(ServingObjectives{})));
  const std::vector<std::string> warnings = ServerWarnings(served, metrics, arguments);
  return PrintTextOrJson(
      arguments,
      [&] {
        std::string text = ServerText(served, metrics, arguments);
        for (const std::string& warning : warnings) text += StrCat("warning: ", warning, "\n");
        return text;
      },
      [&] { return ServerJson(served, metrics, arguments, warnings); });
}

}  // namespace gapless::internal
