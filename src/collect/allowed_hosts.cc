// SPDX-License-Identifier: Apache-2.0
#include "collect/allowed_hosts.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace gapless::internal {
namespace {

bool IsAddress(const std::string& host) {
  in6_addr space;
  return inet_pton(AF_INET, host.c_str(), &space) == 1 || inet_pton(AF_INET6, host.c_str(), &space) == 1;
}

bool IsLocal(const std::string& host) { return host == "localhost" || host.ends_with(".localhost"); }

// Returns the name in lower case, without the dot that may end it.
std::string Canonical(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string name(host);
  std::transform(name.begin(), name.end(), name.begin(), Lower);
  return name;
}

std::string FirstLabel(const std::string& name) { return name.substr(0, name.find('.')); }

}  // namespace

std::string_view HostWithoutPort(std::string_view header) {
  if (header.starts_with('[')) return header.substr(1, header.find(']') - 1);
  return header.substr(0, header.find(':'));
}

bool IsLoopbackHost(std::string_view host) {
  const std::string name = Canonical(host);
  return IsLocal(name) || name == "::1" || (IsAddress(name) && name.starts_with("127."));
}

std::string MachineName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

AllowedHosts::AllowedHosts(std::string_view listen_host, std::string_view machine)
    : listen_host_(Canonical(listen_host)) {
  if (!IsLoopbackHost(listen_host_)) machine_ = FirstLabel(Canonical(machine));
}

bool AllowedHosts::Allows(std::string_view host_header) const {
  if (host_header.empty()) return true;
  const std::string host = Canonical(HostWithoutPort(host_header));
  if (IsAddress(host) || IsLocal(host) || host == listen_host_) return true;
  return !machine_.empty() && FirstLabel(host) == machine_;
}

}  // namespace gapless::internal
