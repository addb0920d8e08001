// SPDX-License-Identifier: Apache-2.0
// Parses the annotations of serving engines. Text that does not fit any known form gives no iteration.
#include "analyses/engine_iteration.h"

#include <charconv>

#include "trace/marks.h"

namespace gapless::internal {
namespace {

// The number right behind `key`; absent: no key, or no number there.
std::optional<int64_t> NumberAfter(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == text.npos) return std::nullopt;
  const std::string_view rest = text.substr(at + key.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() || end == rest.data()) return std::nullopt;
  return number;
}

// The number right before `key`: "1 ctx reqs".
std::optional<int64_t> NumberBefore(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == text.npos) return std::nullopt;
  size_t start = at;
  while (start > 0 && text[start - 1] >= '0' && text[start - 1] <= '9') --start;
  return NumberAfter(text.substr(0, at), text.substr(0, start));
}

// "(8)" or "(sq32sk55086…)" behind the number of requests.
struct Bracket {
  std::optional<int64_t> tokens, context;
};
Bracket BracketAfter(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  const size_t open = at == text.npos ? text.npos : text.find('(', at);
  const size_t close = open == text.npos ? text.npos : text.find(')', open);
  if (close == text.npos) return {};
  const std::string_view inside = text.substr(open + 1, close - open - 1);
  if (!inside.starts_with("sq")) return {NumberAfter(text.substr(open), "("), std::nullopt};
  return {NumberAfter(inside, "sq"), NumberAfter(inside, "sk")};
}

std::optional<int64_t> Sum(std::optional<int64_t> a, std::optional<int64_t> b) {
  return a && b ? std::optional<int64_t>(*a + *b) : std::nullopt;
}

EngineIteration ReadExecute(std::string_view name) {
  EngineIteration iteration;
  const bool old = name.find("context_") == name.npos;
  const std::string_view prefill = old ? "new_" : "context_", decode = old ? "cached_" : "generation_";
  iteration.prefill_requests = NumberAfter(name, prefill).value_or(0);
  iteration.decode_requests = NumberAfter(name, decode).value_or(0);
  if (old) return iteration;
  const Bracket first = BracketAfter(name, prefill), second = BracketAfter(name, decode);
  iteration.prefill_tokens = first.tokens, iteration.decode_tokens = second.tokens;
  iteration.context_tokens = Sum(first.context, second.context);
  return iteration;
}

EngineIteration ReadStep(std::string_view name) {
  EngineIteration iteration;
  const int64_t batch = NumberAfter(name, "bs=").value_or(0);
  const bool decodes = name.find("DECODE") != name.npos;
  (decodes ? iteration.decode_requests : iteration.prefill_requests) = batch;
  if (decodes)
    iteration.decode_tokens = batch, iteration.prefill_tokens = 0;
  else
    iteration.prefill_tokens = NumberAfter(name, "toks="), iteration.decode_tokens = 0;
  return iteration;
}

}  // namespace

std::optional<EngineIteration> ReadEngineIteration(std::string_view name) {
  if (!IsEngineIteration(name)) return std::nullopt;
  if (name.starts_with("execute_")) return ReadExecute(name);
  if (name.starts_with("step[")) return ReadStep(name);
  EngineIteration iteration;
  iteration.prefill_requests = NumberBefore(name, " ctx reqs").value_or(0);
  iteration.decode_requests = NumberBefore(name, " gen reqs").value_or(0);
  iteration.prefill_tokens = NumberBefore(name, " ctx tokens");
  iteration.decode_tokens = iteration.decode_requests;
  return iteration;
}

}  // namespace gapless::internal
