// SPDX-License-Identifier: Apache-2.0
// A PostgreSQL server of the test's own: in a temporary folder, on the loopback address, stopped and gone at its end.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "base/strings.h"

namespace gapless::internal::testing {

class PostgresServer {
 public:
  // Null where PostgreSQL is not installed or does not start; `why` then says so.
  static std::unique_ptr<PostgresServer> Start(std::string& why);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // The URL of a new, empty database.
  std::string NewDatabase();
  // Stops it as a power failure does, and starts it again.
  bool KillAndRestart();
  bool Stop();
  bool Launch();

 private:
  PostgresServer() = default;
  std::string bin_, folder_, as_user_;
  int port_ = 0, databases_ = 0;
};

inline bool Shell(const std::string& line) {
  return std::system((line + " >/dev/null 2>&1 </dev/null").c_str()) == 0;  // NOLINT(cert-env33-c)
}

// Returns the folder of initdb and pg_ctl; empty if they are not installed.
inline std::string Binaries() {
  std::error_code ignored;
  std::string found;
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", ignored))
    if (std::filesystem::exists(version.path() / "bin" / "initdb", ignored)) found = (version.path() / "bin").string();
  return found;
}

// Returns a port that was free a moment ago; another process may take it before the server does.
inline int FreePort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(socket, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  return ntohs(address.sin_port);
}

inline std::unique_ptr<PostgresServer> PostgresServer::Start(std::string& why) {
  std::unique_ptr<PostgresServer> server(new PostgresServer);
  server->bin_ = Binaries();
  if (server->bin_.empty()) {
    why = "PostgreSQL is not installed (apt install postgresql)";
    return nullptr;
  }
  std::string pattern = (std::filesystem::temp_directory_path() / "gapless-pg-XXXXXX").string();
  server->folder_ = ::mkdtemp(pattern.data());
  if (::geteuid() == 0) {  // PostgreSQL refuses to run as root
    server->as_user_ = "setpriv --reuid=postgres --regid=postgres --clear-groups ";
    if (!Shell("chown postgres " + server->folder_)) {
      why = "PostgreSQL does not run as root, and there is no user postgres";
      return nullptr;
    }
  }
  server->port_ = FreePort();
  const std::string init = StrCat("cd / && ", server->as_user_, server->bin_, "/initdb -D ", server->folder_,
                                  "/data -U gapless -A trust -E UTF8 --locale=C -N");
  if (!Shell(init) || !server->Launch()) {
    why = "PostgreSQL does not start here";
    return nullptr;
  }
  return server;
}

inline bool PostgresServer::Launch() {
  return Shell(StrCat("cd / && ", as_user_, bin_, "/pg_ctl -w -t 60 -D ", folder_, "/data -l ", folder_,
                      "/log -o \"-p ", port_, " -c listen_addresses=127.0.0.1 -c unix_socket_directories=", folder_,
                      "\" start"));
}

inline bool PostgresServer::Stop() {
  return Shell(StrCat("cd / && ", as_user_, bin_, "/pg_ctl -w -m immediate -D ", folder_, "/data stop"));
}

inline bool PostgresServer::KillAndRestart() { return Stop() && Launch(); }

inline std::string PostgresServer::NewDatabase() {
  const std::string name = StrCat("history", ++databases_);
  Shell(StrCat("cd / && ", bin_, "/createdb -h 127.0.0.1 -p ", port_, " -U gapless ", name));
  return StrCat("postgresql://gapless@127.0.0.1:", port_, "/", name);
}

inline PostgresServer::~PostgresServer() {
  if (port_ != 0) Stop();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

}  // namespace gapless::internal::testing
