// SPDX-License-Identifier: Apache-2.0
// Groups the calls of a model into requests: a call continues the text of the call before if it adds one token to
// it.
//
// Example: calls with 7, 1, 1, 5, 1 tokens are two requests, of three and of two calls. Without a cache the same
// text has calls with 7, 8, 9 tokens. Whether a program writes text at all is decided over all calls together,
// since single calls of one token occur elsewhere, too.
#include "trial/requests.h"

namespace gapless::internal {
namespace {

bool GoesOn(const ModelCall& before, const ModelCall& call) {
  return call.tokens > 0 && before.tokens > 0 && before.rows == call.rows &&
         (call.tokens == 1 || call.tokens == before.tokens + 1);
}

// Returns true if more calls continue a text than begin one.
bool WritesText(std::span<const ModelCall> calls) {
  size_t begin = 0, go_on = 0;
  for (size_t i = 1; i < calls.size(); ++i) ++(GoesOn(calls[i - 1], calls[i]) ? go_on : begin);
  return go_on > begin;
}

InferenceRequest Begin(const ModelCall& call) {
  return {.calls = 1,
          .start_unix_ns = call.start_unix_ns,
          .latency_ns = call.dur_ns,
          .first_token_ns = call.dur_ns,
          .rows = call.rows};
}

}  // namespace

InferenceRequests RequestsOf(std::span<const ModelCall> calls, bool open) {
  InferenceRequests found{.writes_text = WritesText(calls)};
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!found.writes_text) {
      found.requests.push_back(Begin(calls[i]));
    } else if (i > 0 && GoesOn(calls[i - 1], calls[i])) {
      if (found.requests.empty()) continue;  // its beginning was not seen
      InferenceRequest& request = found.requests.back();
      ++request.calls;
      request.latency_ns = calls[i].start_unix_ns + calls[i].dur_ns - request.start_unix_ns;
    } else if (i > 0 || calls[i].tokens > 1) {
      found.requests.push_back(Begin(calls[i]));
    }
  }
  if (open && found.writes_text && !found.requests.empty()) found.requests.pop_back();
  return found;
}

std::vector<int64_t> LatenciesOf(std::span<const ModelCall> calls, bool open) {
  std::vector<int64_t> latency_ns;
  for (const InferenceRequest& request : RequestsOf(calls, open).requests) latency_ns.push_back(request.latency_ns);
  return latency_ns;
}

}  // namespace gapless::internal
