// SPDX-License-Identifier: Apache-2.0
// Requests of a program that infers, from the calls of its model.
//
// A request is one call; or, where the model writes text token by token, the call with the prompt and those that follow
// it: with one token each (the rest is in a cache) or with the same rows, one token longer than the last. A program
// writes text when more calls go on than begin a request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gapless::internal {

struct ModelCall {
  int64_t step = 0, start_unix_ns = 0;
  int64_t dur_ns = 0;  // until its result was there: on the device, where that took longer than the call
  std::optional<int64_t> rows{};
  int64_t tokens = 0;  // in a row of the input; 0: not made of token ids
};

struct InferenceRequest {
  size_t calls = 0;  // one token of each row comes out of each, when text is written
  int64_t start_unix_ns = 0;
  int64_t latency_ns = 0;      // from the start of its first call to the end of its last
  int64_t first_token_ns = 0;  // the time of its first call
  std::optional<int64_t> rows{};
};

struct InferenceRequests {
  bool writes_text = false;
  std::vector<InferenceRequest> requests{};
};

// `calls` in order. What belongs to a request that began before them is left out; with `open` the last request may not
// be over yet, and is left out too where text is written.
InferenceRequests RequestsOf(std::span<const ModelCall> calls, bool open);
// The latency of each of these requests, ns.
std::vector<int64_t> LatenciesOf(std::span<const ModelCall> calls, bool open);

}  // namespace gapless::internal
