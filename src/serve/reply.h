// SPDX-License-Identifier: Apache-2.0
// The form of all answers: no cache keeps them unasked, nothing embeds them, and they are compressed where the client
// takes that.
#pragma once

#include <string>
#include <string_view>

#include "base/described_json.h"
#include "base/result.h"
#include "collect/http_listener.h"

namespace gapless::internal {

template <class T>
std::string JsonOf(const T& document) {
  std::string out;
  JsonWriter json(out);
  WriteJson(json, document);
  return out;
}

// The answer with a JSON document, or with 304 if the request already has it (ETag, If-None-Match).
HttpAnswer Reply(const HttpRequest& request, std::string json);
// The same with a page, and what it may load and ask.
HttpAnswer ReplyPage(const HttpRequest& request, std::string html, std::string_view policy);
// {"error": {"code", "message", "hint"}}
HttpAnswer ReplyError(int status, std::string_view code, std::string_view message, std::string_view hint = {});
// The answer to an error of the rooms: 400 for one of usage or input, else 500.
HttpAnswer ReplyError(const Error& error);

}  // namespace gapless::internal
