// SPDX-License-Identifier: Apache-2.0
// Lines that NCCL and RCCL print with NCCL_DEBUG: what they say of the version, the network, communicators, channels,
// settings and collectives.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trace/builder.h"

namespace gapless::internal::nccl_log {

// "mew0:64904:64921 [1] NCCL INFO text", "host:1:2 [0] transport/net.cc:41 NCCL WARN text"
struct LogLine {
  std::string_view before;  // text before it in its line
  std::string_view host, pid, thread, place, level, text;
};

// Does the text hold a line of NCCL?
bool HasLogLine(std::string_view text);

class LogLines {
 public:
  explicit LogLines(TraceBuilder& builder) : builder_(builder) {}
  // Takes the lines of NCCL from a line of the file; what is left of it is returned.
  std::vector<std::string_view> Take(std::string_view line, int64_t number);
  // Failures that others print: of nccl-tests and of PyTorch.
  void TakeOther(std::string_view line, int64_t number);
  void Finish();
  int64_t lines() const { return lines_; }
  int64_t world_size() const { return world_size_; }

 private:
  struct Message {
    std::string host, level, text, place;
    int64_t count = 0, line = 0;
  };
  struct Call {
    std::string kind, dtype, algorithm, protocol;
    int64_t bytes = kAbsent, ranks = kAbsent, channels = kAbsent;
    auto operator<=>(const Call&) const = default;
  };

  size_t HostStart(std::string_view token) const;
  bool Parse(std::string_view line, size_t marker, size_t end, LogLine& out);
  void TakeText(const LogLine& line);
  void TakeNetwork(std::string_view text);
  void TakeCommunicator(const LogLine& line);
  void TakeShape(std::string_view text);
  void TakeChannel(const LogLine& line);
  void TakeCall(std::string_view text);
  void CountCall(Call call);
  void AddMessage(std::string_view host, std::string_view level, std::string_view text, std::string_view place,
                  int64_t number);
  void Note(std::string_view key, std::string_view value);

  TraceBuilder& builder_;
  std::set<std::string, std::less<>> hosts_;
  std::map<std::string, std::vector<std::string>, std::less<>> notes_;  // values of a key in their order
  std::map<std::string, std::string, std::less<>> comm_of_thread_;
  std::vector<Message> messages_;
  std::map<std::string, size_t, std::less<>> message_index_;
  std::map<Call, int64_t> calls_;
  int64_t lines_ = 0, world_size_ = kAbsent, lost_messages_ = 0;
};

}  // namespace gapless::internal::nccl_log
