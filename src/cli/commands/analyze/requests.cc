// SPDX-License-Identifier: Apache-2.0
// Reads a result of bench, and shows what the time to the first token was spent on: means, since these add up.
#include "cli/commands/analyze/requests.h"

#include "base/described_json.h"
#include "base/json_value.h"
#include "base/strings.h"
#include "collect/files.h"
#include "report/text_table.h"

namespace gapless::internal {
namespace documents {

struct FirstTokenTimes {
  double ttft = 0, queue = 0, others = 0, prefill = 0, delivery = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&FirstTokenTimes::ttft>("time_to_first_token_ms", "ms", "the sum of the other four"),
      Field<&FirstTokenTimes::queue>("queue_ms", "ms", "no iteration with a prompt ran"),
      Field<&FirstTokenTimes::others>("others_prefill_ms", "ms", "iterations with prompts of other requests"),
      Field<&FirstTokenTimes::prefill>("prefill_ms", "ms", "its prompt was computed"),
      Field<&FirstTokenTimes::delivery>("delivery_ms", "ms", "from the end of that iteration to the client"),
  };
};

struct FirstTokenResult {
  size_t requests = 0, not_recorded = 0;
  bool host_is_known = false;
  FirstTokenTimes mean{};
  std::vector<FirstTokenTimes> each{};
  static constexpr FieldInfo kFields[] = {
      Field<&FirstTokenResult::requests>("requests", "count", "requests whose prompt is in the recording"),
      Field<&FirstTokenResult::not_recorded>("not_recorded", "count", "requests whose prompt is not: in no figure"),
      Field<&FirstTokenResult::host_is_known>("host_is_known", "",
                                              "the recording names the client's machine, so that the clock is one"),
      Field<&FirstTokenResult::mean>("mean", "", "over the requests"),
      Field<&FirstTokenResult::each>("each", "", "the requests, by their start"),
  };
};

}  // namespace documents

constinit const TypeInfo kFirstTokenDocument = describe::MakeType<documents::FirstTokenResult>();

namespace {

constexpr size_t kLongestResult = size_t{1} << 30;
constexpr double kNsInMs = 1e6;

Unexpected NoRequests(const std::string& path) {
  return Fail(ErrorCode::kInput, "this file has no requests with times of the wall clock", path,
              "gapless bench --inference --url http://localhost:8000 --json=FILE writes them");
}

documents::FirstTokenTimes TimesOf(const FirstTokenParts& parts) {
  const auto ms = [](int64_t ns) { return static_cast<double>(ns) / kNsInMs; };
  return {.ttft = ms(parts.sum()),
          .queue = ms(parts.queue_ns),
          .others = ms(parts.others_ns),
          .prefill = ms(parts.prefill_ns),
          .delivery = ms(parts.delivery_ns)};
}

documents::FirstTokenTimes MeanOf(const FirstTokens& tokens) {
  FirstTokenParts sum;
  for (const FirstTokenParts& parts : tokens.requests) {
    sum.queue_ns += parts.queue_ns, sum.others_ns += parts.others_ns;
    sum.prefill_ns += parts.prefill_ns, sum.delivery_ns += parts.delivery_ns;
  }
  documents::FirstTokenTimes mean = TimesOf(sum);
  const auto count = static_cast<double>(tokens.requests.size());
  for (double* value : {&mean.ttft, &mean.queue, &mean.others, &mean.prefill, &mean.delivery}) *value /= count;
  return mean;
}

}  // namespace

Result<ClientRequests> ReadClientRequests(const std::string& path) {
  const std::string content = ContentOf(path, kLongestResult);
  if (content.empty()) return Fail(ErrorCode::kInput, "the file is empty or cannot be read", path);
  const auto json = JsonValue::Parse(content);
  if (!json) return NoRequests(path);
  const auto began = json->Get("start_unix_ns").Int();
  ClientRequests client{.host = json->Get("environment").TextOf("host")};
  for (const JsonValue& row : json->Get("each").items()) {
    const auto start = row.Get("start_ms").Number();
    const auto& chunks = row.Get("text_ms").items();
    const auto first = chunks.empty() ? std::nullopt : chunks[0].Number();
    if (!began || !start || !first) return NoRequests(path);
    const int64_t sent = *began + static_cast<int64_t>(*start * kNsInMs);
    client.requests.push_back({.start_unix_ns = sent,
                               .first_token_unix_ns = sent + static_cast<int64_t>(*first * kNsInMs),
                               .prompt_tokens = row.Get("prompt_tokens").Int()});
  }
  if (client.requests.empty()) return NoRequests(path);
  return client;
}

std::string FirstTokenText(const FirstTokens& tokens) {
  const documents::FirstTokenTimes mean = MeanOf(tokens);
  const auto row = [&](const char* name, double ms, const char* meaning) {
    return std::vector<std::string>{name, FormatNumber(ms, 2), FormatPercent(mean.ttft > 0 ? ms / mean.ttft : 0),
                                    meaning};
  };
  std::string text = StrCat("time to the first token: ", FormatNumber(mean.ttft, 2), " ms, mean of ",
                            FormatCounted(static_cast<int64_t>(tokens.requests.size()), "request"));
  if (tokens.not_recorded > 0) text += StrCat("; the prompts of ", tokens.not_recorded, " are not in the recording");
  text += StrCat("\n\n", Aligned({"", "ms", "share", "while"},
                                 {row("queue", mean.queue, "no iteration with a prompt ran"),
                                  row("others", mean.others, "prompts of other requests were computed"),
                                  row("prefill", mean.prefill, "its own prompt was computed"),
                                  row("delivery", mean.delivery, "its first token was on the way to the client")},
                                 "while"));
  if (!tokens.host_is_known)
    text += "\nThe recording does not name its machine: client and server are taken to share one clock.\n";
  return text;
}

std::string FirstTokenJson(const FirstTokens& tokens) {
  documents::FirstTokenResult document{.requests = tokens.requests.size(),
                                       .not_recorded = tokens.not_recorded,
                                       .host_is_known = tokens.host_is_known,
                                       .mean = MeanOf(tokens)};
  for (const FirstTokenParts& parts : tokens.requests) document.each.push_back(TimesOf(parts));
  return DocumentOf("analyze", document);
}

}  // namespace gapless::internal
