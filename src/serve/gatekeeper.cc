// SPDX-License-Identifier: Apache-2.0
#include "serve/gatekeeper.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>

#include "base/random_bytes.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

// Takes as long for every text of the token's length.
bool IsSame(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

// Returns the value of a cookie of "a=1; b=2"; "" if it is not there.
std::string_view CookieIn(std::string_view header, std::string_view name) {
  for (std::string_view part : Split(header, ';')) {
    part = Trimmed(part);
    if (part.size() > name.size() && part.starts_with(name) && part[name.size()] == '=')
      return part.substr(name.size() + 1);
  }
  return {};
}

bool IsTokenCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

}  // namespace

Gatekeeper::Gatekeeper(std::string_view listen_host, std::string token)
    : hosts_(listen_host, MachineName()), on_loopback_(IsLoopbackHost(listen_host)), token_(std::move(token)) {}

bool Gatekeeper::IsOwnHost(std::string_view header) const {
  if (header.empty() || !hosts_.Allows(header)) return false;
  return !on_loopback_ || IsLoopbackHost(HostWithoutPort(header));
}

bool Gatekeeper::BringsToken(const HttpRequest& request) const {
  return !token_.empty() && IsSame(request.Parameter("token"), token_);
}

bool Gatekeeper::HasToken(const HttpRequest& request) const {
  if (token_.empty() || BringsToken(request)) return true;
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view given = request.Header("authorization");
  if (given.starts_with(kBearer) && IsSame(given.substr(kBearer.size()), token_)) return true;
  return IsSame(CookieIn(request.Header("cookie"), kTokenCookie), token_);
}

std::optional<Gatekeeper::Refusal> Gatekeeper::Refuse(const HttpRequest& request) const {
  if (!IsOwnHost(request.host)) return Refusal::kForeignHost;
  const std::string_view origin = request.Header("origin");
  if (!origin.empty() && !EqualsIgnoreCase(origin, StrCat("http://", request.host))) return Refusal::kForeignOrigin;
  if (request.Header("sec-fetch-site") == "cross-site" && request.path != "/") return Refusal::kForeignOrigin;
  if (!HasToken(request)) return Refusal::kNoToken;
  return {};
}

Result<std::string> NewToken() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<std::byte, 32> bytes;
  if (!FillWithRandom(bytes)) return Fail(ErrorCode::kEnvironment, "the kernel gives no random numbers for a token");
  std::string token;
  for (const std::byte byte : bytes) {
    token += kDigits[static_cast<size_t>(byte >> 4)];
    token += kDigits[static_cast<size_t>(byte & std::byte{15})];
  }
  return token;
}

Result<std::string> TokenFrom(const std::string& path) {
  constexpr size_t kLeast = 16, kMost = 512;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  for (char c = 0; text.size() <= kMost && file.get(c);) text += c;
  const std::string token(Trimmed(text));
  if (token.size() >= kLeast && text.size() <= kMost && std::ranges::all_of(token, IsTokenCharacter)) return token;
  return Fail(ErrorCode::kUsage, "the file holds no token: 16 to 512 letters, digits, - and _", path,
              "openssl rand -hex 32 > FILE");
}

}  // namespace gapless::internal
