// SPDX-License-Identifier: Apache-2.0
// Who may ask the server. It gives out what recordings hold, so it is asked by its own page alone, from this machine,
// or from elsewhere by who knows its token.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "collect/allowed_hosts.h"
#include "collect/http_listener.h"

namespace gapless::internal {

inline constexpr std::string_view kTokenCookie = "gapless_token";

class Gatekeeper {
 public:
  // `listen_host`: as the user gave it; `token`: empty: none is asked for.
  Gatekeeper(std::string_view listen_host, std::string token);

  enum class Refusal { kForeignHost, kForeignOrigin, kNoToken };
  // Returns why the request is refused; none: it may be answered.
  //
  // Host: a page of another site may let a name of its own resolve to this machine (DNS rebinding), and would then be
  // let read the answers. So the name must be one of this server; on the loopback device one of that. Its port may be
  // any: a tunnel has its own.
  // Origin: if a browser says which page asks, it must be one of this server.
  // Token: as `Authorization: Bearer`, as cookie, or, for the first visit, as parameter `token`.
  std::optional<Refusal> Refuse(const HttpRequest& request) const;
  // Does the request have the token as a parameter? Its answer then is a cookie, and the page without it.
  bool BringsToken(const HttpRequest& request) const;

  const std::string& token() const { return token_; }

 private:
  bool IsOwnHost(std::string_view header) const;
  bool HasToken(const HttpRequest& request) const;

  AllowedHosts hosts_;
  bool on_loopback_;
  std::string token_;
};

// 256 random bits as text; an error: the kernel gives none.
Result<std::string> NewToken();
// The token in a file: its text without spaces around it. An error: no file, or fewer than 16 or other characters than
// letters, digits, - and _.
Result<std::string> TokenFrom(const std::string& path);

}  // namespace gapless::internal
