// SPDX-License-Identifier: Apache-2.0
#include "serve/reply.h"

#include <charconv>
#include <functional>
#include <utility>

#include "base/json_writer.h"
#include "base/strings.h"
#include "convert/compress.h"

namespace gapless::internal {
namespace {

constexpr size_t kLeastCompressed = 1024;  // bytes
constexpr int kNotModifiedStatus = 304;

constexpr std::string_view kDataPolicy = "default-src 'none'; frame-ancestors 'none'";
constexpr const char* kJsonType = "application/json; charset=utf-8";
constexpr const char* kHtmlType = "text/html; charset=utf-8";

HttpAnswer Begin(const char* type, std::string_view policy) {
  HttpAnswer answer;
  answer.content_type = type;
  answer.headers = {
      {"Cache-Control", "no-cache"},
      {"Content-Security-Policy", std::string(policy)},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Vary", "Accept-Encoding"},
  };
  return answer;
}

// Does the header name gzip, and not with a weight of 0?
bool TakesGzip(std::string_view header) {
  for (const std::string_view item : Split(header, ',')) {
    const size_t at = item.find("gzip");
    if (at == std::string_view::npos) continue;
    const size_t weight = item.find("q=", at);
    double value = 1;
    if (weight != std::string_view::npos) std::from_chars(item.data() + weight + 2, item.data() + item.size(), value);
    if (value > 0) return true;
  }
  return false;
}

// A form of the content has a tag of its own: a strong one means the same bytes.
std::string TagOf(std::string_view body, bool gzip) {
  return StrCat("\"", std::hash<std::string_view>()(body), "-", body.size(), gzip ? "-gz\"" : "\"");
}

bool IsAmong(std::string_view header, std::string_view tag) {
  for (std::string_view item : Split(header, ',')) {
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (item.starts_with("W/")) item.remove_prefix(2);
    if (item == tag || item == "*") return true;
  }
  return false;
}

HttpAnswer Complete(HttpAnswer answer, const HttpRequest& request, std::string body) {
  const bool gzip = body.size() >= kLeastCompressed && TakesGzip(request.Header("accept-encoding"));
  const std::string tag = TagOf(body, gzip);
  answer.headers.emplace_back("ETag", tag);
  if (IsAmong(request.Header("if-none-match"), tag)) {
    answer.status = kNotModifiedStatus;
    return answer;
  }
  if (gzip) answer.headers.emplace_back("Content-Encoding", "gzip");
  answer.body = gzip ? Gzipped(body) : std::move(body);
  return answer;
}

}  // namespace

HttpAnswer Reply(const HttpRequest& request, std::string json) {
  return Complete(Begin(kJsonType, kDataPolicy), request, std::move(json));
}

HttpAnswer ReplyPage(const HttpRequest& request, std::string html, std::string_view policy) {
  return Complete(Begin(kHtmlType, policy), request, std::move(html));
}

HttpAnswer ReplyError(int status, std::string_view code, std::string_view message, std::string_view hint) {
  HttpAnswer answer = Begin(kJsonType, kDataPolicy);
  answer.status = status;
  JsonWriter json(answer.body);
  json.BeginObject();
  json.Key("error");
  json.BeginObject();
  json.Field("code", code);
  json.Field("message", message);
  json.Field("hint", hint);
  json.EndObject();
  json.EndObject();
  return answer;
}

HttpAnswer ReplyError(const Error& error) {
  constexpr int kBadRequest = 400, kOurFault = 500;
  const std::string message = error.place.empty() ? error.message : StrCat(error.place, ": ", error.message);
  const bool theirs = error.code == ErrorCode::kUsage || error.code == ErrorCode::kInput;
  return ReplyError(theirs ? kBadRequest : kOurFault, theirs ? "bad_request" : "failed", message, error.hint);
}

}  // namespace gapless::internal
