// SPDX-License-Identifier: Apache-2.0
// Follows the telemetry files of a run while they grow, and keeps the newest value of each series of a GPU.
//
// A launcher's sampler writes its file at least four times a second, so that what a monitor shows is as fresh, whether
// the monitor started the run or joined it. A file is only read; a record that cannot be ends its reading.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "collect/files.h"

namespace gapless::internal {

class TelemetryTail {
 public:
  using Key = std::pair<std::string, int32_t>;  // name, device
  struct Host {
    std::string name;  // "": the file does not say
    std::map<Key, double> values;
  };

  // Reads what was added to the telemetry files of the open folder since the last call, at most kMaxReadBytes of each.
  void ReadNew(int folder);
  // File name -> host: each launcher of a run writes a file.
  const std::map<std::string, Host>& hosts() const { return hosts_; }

 private:
  static constexpr size_t kMaxReadBytes = size_t{8} << 20;
  struct File {
    Descriptor descriptor{};
    std::string rest{};  // the beginning of a record that is not whole yet
    std::map<uint32_t, Key> series{};
    bool has_header = false, ended = false;
  };

  // Takes the whole records at the start of `file.rest`.
  static void TakeRecords(File& file, Host& host);
  static void TakeRecord(File& file, Host& host, uint16_t kind, uint16_t count, std::string_view body);

  std::map<std::string, File> files_;  // by name
  std::map<std::string, Host> hosts_;
};

}  // namespace gapless::internal
