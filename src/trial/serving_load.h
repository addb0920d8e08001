// SPDX-License-Identifier: Apache-2.0
// Loads a server of a language model over the interface of OpenAI, and takes the time of each request. A closed loop:
// so many clients, each of which sends its next request when its last one is answered.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

struct ServingLoad {
  std::string url;                     // "http://localhost:8000", with "/v1", or with the whole path of an endpoint
  std::string model{};                 // empty: the first that the server names
  std::vector<std::string> prompts{};  // taken in turn; empty: made of words, each prompt another one
  size_t concurrency = 8, requests = 100, warmup = 10;
  int64_t output_tokens = 128;  // at most, of an answer
  double budget_s = 300;        // what is not answered by then is cut off
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(size_t answered)> progress{};  // from any thread
  // The key that goes with each request (Authorization: Bearer), and the variable of the environment that has it;
  // empty: none. It is in no error and in no result.
  std::string api_key{}, api_key_env{};
};

// A request as its client saw it. Times are in ns from its start.
struct ServedRequest {
  int64_t start_ns = 0;                                     // from the start of the load
  int64_t latency_ns = 0;                                   // until the answer was complete
  std::vector<int64_t> text_ns{};                           // when each chunk with text had come
  std::optional<int64_t> prompt_tokens{}, output_tokens{};  // as the server counts; absent: it does not say
  std::string failure{};                                    // empty: it was answered
};

struct ServedLoad {
  std::string endpoint{}, model{};        // "http://localhost:8000/v1/completions"
  std::vector<ServedRequest> requests{};  // after warm-up, those that were answered or failed, by their start
  size_t cut_off = 0;                     // under way at the end of the time, or at an interruption: no results
  bool interrupted = false, ran_out = false;
  std::optional<int64_t> start_unix_ns{};  // of the load, from which requests count; absent: the generator does not say
};

// The endpoint that is asked.
struct ServingTarget {
  std::string server;  // "http://localhost:8000"
  std::string path;    // "/v1/completions"
  std::string model;
  bool chats = false;
};
// Finds the endpoint: that of the address if it names one, else completions, else chat. Asks the server. An error as of
// LoadServer().
Result<ServingTarget> FindServingTarget(const ServingLoad& load);
// The text without the load's key, should a server or a program repeat it.
std::string WithoutKey(std::string text, const ServingLoad& load);
// The prompt of the request with this number.
std::string ServingPrompt(const ServingLoad& load, size_t number);

// Blocks until all is answered, the time is over, or `cancel` is set. An error: the server cannot be reached, has no
// such endpoint, or names no model. Requests that fail are no error.
Result<ServedLoad> LoadServer(const ServingLoad& load);
// The same with guidellm, in this Python, which must have it. It writes down the first and the last token of a request
// and not those between, so that `text_ns` has the first alone; an interruption leaves nothing.
Result<ServedLoad> LoadServerWithGuidellm(const ServingLoad& load, const std::string& python);
// The same with AIPerf. It takes https; then nothing is asked of the server before, and the load must name the model.
Result<ServedLoad> LoadServerWithAiperf(const ServingLoad& load, const std::string& python);

}  // namespace gapless::internal
