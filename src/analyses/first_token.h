// SPDX-License-Identifier: Apache-2.0
// The time to the first token, as the clients of a server saw it, laid over the iterations of the server's recording.
//
//   request sent ── queue ──┤ prompts of others ├── queue ──┤ its prompt ├── on its way ── first token
//
// A recording does not say whose prompts an iteration computes. A request's own iteration is taken to be the last one
// with a prompt that began after the request and was half over when its first token came: the end of a step is known to
// the host a little later than its tokens. Where iterations and client count the tokens of prompts, iterations before
// it are the request's as well until its prompt has all its tokens (a prompt in parts).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "base/result.h"

namespace gapless::internal {

// Times of the wall clock.
struct ClientRequest {
  int64_t start_unix_ns = 0, first_token_unix_ns = 0;
  std::optional<int64_t> prompt_tokens{};
};

// They add up to the time from the request to its first token, ns.
struct FirstTokenParts {
  int64_t queue_ns = 0;     // before its prompt was computed, without others_ns
  int64_t others_ns = 0;    // of that time, iterations with prompts of others
  int64_t prefill_ns = 0;   // iterations with its prompt, and the time between them
  int64_t delivery_ns = 0;  // from the end of the last of them to the client

  int64_t sum() const { return queue_ns + others_ns + prefill_ns + delivery_ns; }
};

struct FirstTokens {
  std::vector<FirstTokenParts> requests{};  // in the order in which they were given, those that were recorded
  size_t not_recorded = 0;                  // their prompt is in no iteration of the recording
  bool host_is_known = false;               // the recording names the client's machine as its own
};

// An error: no iterations, no time of the wall clock, recordings of several engines, another machine than `host`, whose
// clock is another one, or no request that was recorded.
Result<FirstTokens> SplitFirstTokens(const Run& run, Tables& tables, std::span<const ClientRequest> requests,
                                     std::string_view host);

}  // namespace gapless::internal
