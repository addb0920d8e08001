// SPDX-License-Identifier: Apache-2.0
// The clients share one counter of requests. Those with a number below the warm-up are sent and answered like the
// others, and left out. Prompts that are made differ from their first word on, so that a server does not find them in
// its cache of prefixes.
#include "trial/serving_load.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/json_value.h"
#include "base/json_writer.h"
#include "base/strings.h"
#include "collect/event_stream.h"
#include "collect/files.h"
#include "collect/start_thread.h"

namespace gapless::internal {
namespace {

using LoadClock = std::chrono::steady_clock;
constexpr int kPatienceSeconds = 120;
constexpr std::string_view kCompletions = "/completions", kChat = "/chat/completions";
constexpr std::string_view kHttps = "https://";
constexpr std::string_view kWords[] = {"river", "stone",  "lamp",  "green", "seven", "window", "paper", "north",
                                       "early", "signal", "table", "cloud", "metal", "garden", "quiet", "engine"};
constexpr size_t kWordsOfAPrompt = 64;

// A prompt of its own for each number, the same in every run.
std::string MadePrompt(size_t number) {
  std::string prompt = StrCat("Story ", number, ":");
  uint64_t state = number * 0x9E3779B97F4A7C15U + 1;
  for (size_t i = 0; i < kWordsOfAPrompt; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    prompt += StrCat(" ", kWords[(state >> 33) % std::size(kWords)]);
  }
  return prompt;
}

std::string RequestBody(const ServingTarget& target, const ServingLoad& load, size_t number) {
  const std::string prompt = ServingPrompt(load, number);
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("model", target.model);
  if (target.chats) {
    json.Key("messages"), json.BeginArray(), json.BeginObject();
    json.Field("role", "user"), json.Field("content", prompt);
    json.EndObject(), json.EndArray();
  } else {
    json.Field("prompt", prompt);
  }
  json.Field("max_tokens", load.output_tokens), json.Field("temperature", 0), json.Field("stream", true);
  json.Key("stream_options"), json.BeginObject(), json.Field("include_usage", true), json.EndObject();
  json.EndObject();
  return out;
}

// Does a chunk bring text? Servers begin a chat with an empty one that only names the role.
bool HasText(const JsonValue& choice) {
  const JsonValue& delta = choice.Get("delta");
  for (const JsonValue* place : {&choice.Get("text"), &delta.Get("content"), &delta.Get("reasoning_content")})
    if (place->Text() != nullptr && !place->Text()->empty()) return true;
  return false;
}

std::string ErrorIn(const JsonValue& json) {
  const JsonValue& error = json.Get("error");
  if (error.Text() != nullptr) return *error.Text();
  const std::string message = error.TextOf("message");
  return message.empty() ? json.TextOf("message") : message;
}

ServedRequest Served(const StreamAnswer& answer, int64_t load_began_ns) {
  ServedRequest served{.start_ns = answer.begun_ns - load_began_ns, .latency_ns = answer.ended_ns - answer.begun_ns};
  served.failure = answer.failure;
  if (served.failure.empty() && answer.status != 200) {
    const auto json = JsonValue::Parse(answer.body);
    served.failure = StrCat("HTTP ", answer.status, json ? StrCat(" ", ErrorIn(*json)) : "");
  }
  for (const StreamEvent& event : answer.events) {
    const auto json = JsonValue::Parse(event.data);
    if (!json) continue;  // "[DONE]"
    if (json->Get("error").is_object()) served.failure = StrCat("the server said: ", ErrorIn(*json));
    const auto& choices = json->Get("choices").items();
    if (!choices.empty() && HasText(choices[0])) served.text_ns.push_back(event.at_ns - answer.begun_ns);
    const JsonValue& usage = json->Get("usage");
    if (const auto tokens = usage.Get("prompt_tokens").Int()) served.prompt_tokens = tokens;
    if (const auto tokens = usage.Get("completion_tokens").Int()) served.output_tokens = tokens;
  }
  if (served.failure.empty() && served.text_ns.empty())
    served.failure = answer.events.empty() ? "the answer is no stream of events" : "the answer has no text";
  return served;
}

Result<void> CheckKey(int status, const std::string& server) {
  if (status != 401 && status != 403) return {};
  return Fail(ErrorCode::kEnvironment, StrCat("the server wants another key: HTTP ", status), Printable(server),
              "--api-key-env NAME takes the key from that variable of the environment");
}

// The first model that the server names.
Result<std::string> FirstModel(EventStream& stream, const std::string& base, const std::string& server) {
  const StreamAnswer answer = stream.Get(base + "/models");
  if (answer.status == 0)
    return Fail(ErrorCode::kEnvironment, StrCat("the server does not answer: ", answer.failure), Printable(server),
                "is it running, and is this its port?");
  GAPLESS_TRY(CheckKey(answer.status, server));
  const auto json = JsonValue::Parse(answer.body);
  if (json && !json->Get("data").items().empty())
    if (std::string id = json->Get("data").items()[0].TextOf("id"); !id.empty()) return id;
  return Fail(ErrorCode::kInput, StrCat("the server names no model at ", base, "/models"), Printable(server),
              "name it: --model NAME");
}

// State that the clients share.
struct Clients {
  const ServingLoad& load;
  const ServingTarget& target;
  int64_t began_ns = 0;
  std::atomic<size_t> next{0}, answered{0}, cut_off{0};
  std::atomic<bool> over{false};
  std::mutex mutex{};
  std::condition_variable done{};
  size_t working = 0;
  std::vector<ServedRequest> requests{};

  void Work(EventStream& stream);
};

void Clients::Work(EventStream& stream) {
  const size_t all = load.warmup + load.requests;
  for (size_t number = next++; number < all && !over; number = next++) {
    const StreamAnswer answer = stream.Post(target.path, RequestBody(target, load, number));
    if (over) {
      if (number >= load.warmup) ++cut_off;
      break;
    }
    const size_t so_far = ++answered;
    if (load.progress) load.progress(so_far);
    if (number < load.warmup) continue;
    ServedRequest served = Served(answer, began_ns);
    served.failure = WithoutKey(std::move(served.failure), load);
    const std::lock_guard lock(mutex);
    requests.push_back(std::move(served));
  }
  const std::lock_guard lock(mutex);
  --working;
  done.notify_all();
}

// Waits for the clients; at the end of the time, or when the user stops it, what they wait for is cut off.
void WaitForClients(Clients& clients, std::vector<std::unique_ptr<EventStream>>& streams, ServedLoad& result) {
  const auto deadline = LoadClock::now() + std::chrono::duration_cast<LoadClock::duration>(
                                               std::chrono::duration<double>(clients.load.budget_s));
  std::unique_lock lock(clients.mutex);
  while (clients.working > 0) {
    clients.done.wait_for(lock, std::chrono::milliseconds(20));
    if (clients.over || clients.working == 0) continue;
    result.interrupted = clients.load.cancel != nullptr && *clients.load.cancel;
    result.ran_out = !result.interrupted && LoadClock::now() >= deadline;
    if (!result.interrupted && !result.ran_out) continue;
    clients.over = true;
    lock.unlock();
    for (const auto& stream : streams) stream->Stop();
    lock.lock();
  }
}

}  // namespace

std::string ServingPrompt(const ServingLoad& load, size_t number) {
  return load.prompts.empty() ? MadePrompt(number) : load.prompts[number % load.prompts.size()];
}

std::string WithoutKey(std::string text, const ServingLoad& load) {
  for (size_t at = 0; !load.api_key.empty() && (at = text.find(load.api_key, at)) != text.npos;)
    text.replace(at, load.api_key.size(), "[key]");
  return text;
}

namespace {

// A server that only a generator can speak with is what the address and the model's name say.
Result<ServingTarget> TargetByName(const ServingLoad& load) {
  const size_t slash = load.url.find('/', kHttps.size());
  ServingTarget target{.server = load.url.substr(0, slash), .path = {}, .model = load.model};
  if (load.model.empty())
    return Fail(ErrorCode::kUsage, "an https server is not asked for its models", Printable(load.url),
                "name the model: --model NAME");
  std::string base = slash == load.url.npos ? "" : load.url.substr(slash);
  while (base.ends_with('/')) base.pop_back();
  const bool named = base.ends_with(kCompletions);
  target.path = named ? base : StrCat(base.empty() ? "/v1" : base, kChat);
  target.chats = target.path.ends_with(kChat);
  return target;
}

}  // namespace

Result<ServingTarget> FindServingTarget(const ServingLoad& load) {
  if (load.url.starts_with(kHttps)) return TargetByName(load);
  GAPLESS_ASSIGN(const auto address, ReadHttpAddress(load.url, "--url http://localhost:8000"));
  ServingTarget target{.server = address.server, .path = {}, .model = load.model};
  std::string base = address.path;
  while (base.ends_with('/')) base.pop_back();
  const bool named = base.ends_with(kCompletions);
  target.chats = base.ends_with(kChat);
  if (named) base.resize(base.size() - (target.chats ? kChat : kCompletions).size());
  if (!named && base.empty()) base = "/v1";
  GAPLESS_ASSIGN(const auto stream, EventStream::Open(address, kPatienceSeconds, load.api_key));
  if (target.model.empty()) {
    GAPLESS_ASSIGN(target.model, FirstModel(*stream, base, target.server));
  }
  target.path = StrCat(base, target.chats ? kChat : kCompletions);
  if (named) return target;
  ServingLoad probe = load;
  probe.output_tokens = 1;
  const StreamAnswer answer = stream->Post(target.path, RequestBody(target, probe, 0));
  if (answer.status == 0)
    return Fail(ErrorCode::kEnvironment, StrCat("the server does not answer: ", answer.failure),
                Printable(target.server), "is it running, and is this its port?");
  GAPLESS_TRY(CheckKey(answer.status, target.server));
  if (answer.status != 404 && answer.status != 405) return target;
  target.chats = true, target.path = StrCat(base, kChat);
  return target;
}

Result<ServedLoad> LoadServer(const ServingLoad& load) {
  if (load.url.starts_with(kHttps))
    return Fail(ErrorCode::kUsage, "the program's own clients speak plain HTTP", Printable(load.url),
                "--generator aiperf and --generator guidellm speak https");
  GAPLESS_ASSIGN(const ServingTarget target, FindServingTarget(load));
  ServedLoad result{.endpoint = target.server + target.path, .model = target.model};
  Clients clients{.load = load, .target = target};
  std::vector<std::unique_ptr<EventStream>> streams;
  for (size_t i = 0; i < load.concurrency; ++i) {
    GAPLESS_ASSIGN(auto stream, EventStream::Open({target.server, target.path}, kPatienceSeconds, load.api_key));
    streams.push_back(std::move(stream));
  }
  result.start_unix_ns = UnixNs();
  clients.began_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(LoadClock::now().time_since_epoch()).count();
  std::vector<std::thread> threads(streams.size());
  Result<void> started;
  for (size_t i = 0; i < threads.size() && started; ++i) {
    const std::lock_guard lock(clients.mutex);
    started = StartThread(threads[i], [&clients, stream = streams[i].get()] { clients.Work(*stream); });
    if (started) ++clients.working;
  }
  if (!started) clients.over = true;
  WaitForClients(clients, streams, result);
  for (std::thread& thread : threads)
    if (thread.joinable()) thread.join();
  GAPLESS_TRY(started);
  result.requests = std::move(clients.requests);
  result.cut_off = clients.cut_off;
  std::ranges::sort(result.requests, {}, &ServedRequest::start_ns);
  return result;
}

}  // namespace gapless::internal
