// SPDX-License-Identifier: Apache-2.0
// The names under which a server of this program may be asked.
#pragma once

#include <string>
#include <string_view>

namespace gapless::internal {

// An AllowedHosts decides which Host headers a server answers. A web page may make a name of its own resolve
// to this machine (DNS rebinding), so that the browser lets it read what the server answers; the header then holds
// that name. Addresses are safe, because a page cannot own one.
class AllowedHosts {
 public:
  // `listen_host`: the name or address (without brackets) that the user gave; `machine`: what gethostname() returns.
  AllowedHosts(std::string_view listen_host, std::string_view machine);

  // Returns true for an empty header (browsers always send it), any IP address, localhost and names below it, and
  // `listen_host`. If `listen_host` is no loopback address, also for the machine's name, with any domain or none.
  bool Allows(std::string_view host_header) const;

 private:
  std::string listen_host_;
  std::string machine_;  // first label of the machine's name; empty on the loopback address
};

// The name or address in a Host header, without its port and brackets.
std::string_view HostWithoutPort(std::string_view header);
// Is it a name or an address (without brackets) of the loopback device?
bool IsLoopbackHost(std::string_view host);
// The name of this machine; empty if it has none.
std::string MachineName();

}  // namespace gapless::internal
