// SPDX-License-Identifier: Apache-2.0
// A line of NCCL may stand behind other output without a break, or break off where another process wrote: its head is
// found by the marker and read backwards. A host's name is known from lines that begin with it.
#include "ingest/readers/nccl_log/log_lines.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "ingest/names.h"
#include "ingest/readers/nccl_log/words.h"

namespace gapless::internal::nccl_log {
namespace {

constexpr std::string_view kInfo = " NCCL INFO ", kWarn = " NCCL WARN ";
constexpr size_t kMaxMessages = 1000, kMaxValues = 64, kMaxText = 400;

size_t MarkerAt(std::string_view line, size_t from) { return std::min(line.find(kInfo, from), line.find(kWarn, from)); }

bool IsNumber(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Cuts the last word off `text`.
std::string_view TakeLastWord(std::string_view& text) {
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  const size_t space = text.find_last_of(" \t");
  const std::string_view word = space == text.npos ? text : text.substr(space + 1);
  text.remove_suffix(word.size());
  return word;
}

constexpr std::string_view kAlgorithms[] = {"TREE",      "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS",
                                            "NVLS_TREE", "PAT"};
constexpr std::string_view kProtocols[] = {"LL", "LL128", "SIMPLE"};

// Older versions write the number of an algorithm, newer ones its name.
template <size_t kCount>
std::string NameOf(std::string_view text, const std::string_view (&names)[kCount]) {
  const std::optional<size_t> number = NumberOf<size_t>(text);
  return std::string(number && *number < kCount ? names[*number] : text);
}

struct Type {
  std::string_view name;
  int64_t bytes;
};
constexpr Type kTypes[] = {{"int8", 1},    {"uint8", 1},    {"int32", 4},       {"uint32", 4},
                           {"int64", 8},   {"uint64", 8},   {"float16", 2},     {"float32", 4},
                           {"float64", 8}, {"bfloat16", 2}, {"float8_e4m3", 1}, {"float8_e5m2", 1}};

}  // namespace

bool HasLogLine(std::string_view text) {
  for (size_t at = 0; (at = MarkerAt(text, at)) != text.npos; at += kInfo.size()) {
    const size_t begin = text.find_last_of('\n', at) + 1;
    const std::string_view head = text.substr(begin, at - begin);
    if (head.find(':') != head.npos && head.find('[') != head.npos) return true;
  }
  return false;
}

// The place at which the host's name begins in "-1mew0:64904:64904".
size_t LogLines::HostStart(std::string_view token) const {
  const std::string_view name = token.substr(0, token.find(':'));
  size_t longest = 0;
  for (const std::string& host : hosts_)
    if (name.ends_with(host)) longest = std::max(longest, host.size());
  return longest == 0 ? 0 : name.size() - longest;
}

bool LogLines::Parse(std::string_view line, size_t marker, size_t end, LogLine& out) {
  out.level = line.substr(marker, kWarn.size()) == kWarn ? "WARN" : "INFO";
  out.text = Trimmed(line.substr(marker + kInfo.size(), end - marker - kInfo.size()));
  std::string_view head = line.substr(0, marker);
  // "[0] transport/net.cc:41": the device, and of a warning the place, which may have spaces.
  size_t device = head.rfind('[');
  while (device != head.npos && !IsNumber(head.substr(device + 1, head.find(']', device) - device - 1)))
    device = device == 0 ? head.npos : head.rfind('[', device - 1);
  if (device == head.npos || head.find(']', device) == head.npos) return false;
  out.place = Trimmed(head.substr(head.find(']', device) + 1));
  head = head.substr(0, device);
  std::string_view token = TakeLastWord(head);
  const std::vector<std::string_view> parts = Split(token, ':');
  if (parts.size() < 3 || !IsNumber(parts.back()) || !IsNumber(parts[parts.size() - 2])) return false;
  const size_t label = token.rfind(">:");  // a label of mpirun
  size_t start = label == token.npos ? 0 : label + 2;
  if (start == 0) start = HostStart(token);
  out.before = line.substr(0, head.size() + (label == token.npos ? start : 0));
  token.remove_prefix(start);
  out.thread = token;
  out.host = token.substr(0, token.find(':'));
  out.pid = parts[parts.size() - 2];
  if (Trimmed(out.before).empty() && hosts_.size() < kMaxValues) hosts_.emplace(out.host);
  return true;
}

std::vector<std::string_view> LogLines::Take(std::string_view line, int64_t number) {
  std::vector<std::string_view> rest;
  size_t marker = MarkerAt(line, 0);
  if (marker == line.npos) return {line};
  size_t begin = 0;
  while (marker != line.npos) {
    const size_t next = MarkerAt(line, marker + kInfo.size());
    LogLine found;
    if (Parse(line.substr(begin), marker - begin, std::min(next, line.size()) - begin, found)) {
      if (begin == 0) rest.push_back(found.before);
      ++lines_;
      if (found.level == "WARN") AddMessage(found.host, "WARN", found.text, found.place, number);
      TakeText(found);
    }
    begin = marker + kInfo.size(), marker = next;
  }
  return rest;
}

void LogLines::TakeOther(std::string_view line, int64_t number) {
  constexpr std::string_view kFailures[] = {"NCCL failure ",
                                            "Test CUDA failure",
                                            "Test failure",
                                            "Test timeout",
                                            "Watchdog caught collective operation timeout",
                                            "torch.distributed.DistBackendError"};
  for (const std::string_view failure : kFailures)
    if (line.find(failure) != line.npos) return AddMessage("", "ERROR", Trimmed(line), "", number);
  for (const std::string_view library : {"NCCL version ", "RCCL version "})
    if (const size_t at = line.find(library); at != line.npos && at < 40)
      Note("nccl.version", Trimmed(line.substr(at + library.size())));
}

// Keeps a fact once: ranks repeat each other.
void LogLines::Note(std::string_view key, std::string_view value) {
  std::vector<std::string>& values = notes_[std::string(key)];
  if (value.empty() || values.size() >= kMaxValues || std::ranges::find(values, value) != values.end()) return;
  values.emplace_back(value);
}

void LogLines::AddMessage(std::string_view host, std::string_view level, std::string_view text, std::string_view place,
                          int64_t number) {
  text = text.substr(0, kMaxText);
  const std::string key = StrCat(host, "\n", place, "\n", text);
  const auto [found, is_new] = message_index_.try_emplace(key, messages_.size());
  if (is_new && messages_.size() >= kMaxMessages) {
    ++lost_messages_;
    message_index_.erase(found);
    return;
  }
  if (is_new)
    messages_.push_back({std::string(host), std::string(level), std::string(text), std::string(place), 0, number});
  ++messages_[found->second].count;
}

void LogLines::TakeText(const LogLine& line) {
  const std::string_view text = line.text;
  if (text.starts_with("Channel ") && text.find("->") != text.npos) return TakeChannel(line);
  if (text.find(": opCount ") != text.npos || text.find(" Bytes -> Algo ") != text.npos) return TakeCall(text);
  if (text.find("comm 0x") != text.npos) TakeCommunicator(line);
  for (const std::string_view key : {"NCCL version ", "RCCL version : ", "RCCL version "})
    if (text.starts_with(key)) return Note("nccl.version", text.substr(key.size()));
  if (text.starts_with("cudaDriverVersion ")) return Note("nccl.cuda_driver", text.substr(18));
  for (const std::string_view word : {" set by environment to ", " set to "}) {
    const size_t at = text.find(word);
    if (at == text.npos || !text.starts_with("NCCL_")) continue;
    std::string_view value = text.substr(at + word.size());
    if (value.ends_with('.')) value.remove_suffix(1);
    return Note(StrCat("nccl.env.", text.substr(0, at)), value);
  }
  TakeNetwork(text);
  TakeShape(text);
}

void LogLines::TakeNetwork(std::string_view text) {
  const auto after = [&](std::string_view key) { return Trimmed(text.substr(text.find(key) + key.size())); };
  const auto has = [&](std::string_view key) { return text.find(key) != text.npos; };
  if (text.starts_with("Using network ")) return Note("nccl.network", after("Using network "));
  if (text.starts_with("NET/IB") && has("No device found")) return Note("nccl.ib_devices", "none");
  if (text.starts_with("NET/IB : Using [") && !has("Using [RO]"))
    return Note("nccl.ib_devices", Behind(text, "NET/IB : Using ", ";"));
  if (text.starts_with("NET/Plugin") && (has("Could not find") || has("No plugin found")))
    return Note("nccl.net_plugin", "none");
  if (has("NET/OFI Using ")) return Note("nccl.net_plugin", after("NET/OFI Using "));
  if (has("Loaded net plugin ")) return Note("nccl.net_plugin", after("Loaded net plugin "));
  if (text.starts_with("NET/OFI Selected ") && ContainsIgnoreCase(text, " provider is "))
    return Note("nccl.libfabric_provider", Behind(text, " is ", " ,("));
  if (has("GPU Direct RDMA Disabled for ")) return Note("nccl.gdr_disabled", Behind(text, "'", "'"));
  if (has("GPU Direct RDMA Enabled for ") || has("GPU Direct RDMA ("))
    return Note("nccl.gdr_enabled", Behind(text, "'", "'"));
  if (has("NVLS multicast support is ")) return Note("nccl.nvls", has("is available") ? "available" : "not available");
}

// "ncclCommInitRank comm 0x3219a400 rank 0 nranks 4 cudaDev 0 …", "comm 0x… rank 0 nRanks 24 nNodes 3 localRanks 8 …"
void LogLines::TakeCommunicator(const LogLine& line) {
  const std::string_view comm = Behind(line.text, "comm ");
  std::string_view ranks = Behind(line.text, " nranks ");
  if (ranks.empty()) ranks = Behind(line.text, " nRanks ");
  if (const auto count = NumberOf<int64_t>(ranks); count && *count > 0 && *count < (int64_t{1} << 24)) {
    world_size_ = std::max(world_size_, *count);
    Note("nccl.communicator_sizes", ranks);
    comm_of_thread_.insert_or_assign(std::string(line.thread), std::string(comm));
  }
  Note("nccl.nodes", Behind(line.text, " nNodes "));
  Note("nccl.hosts", line.host);
}

// Rings, trees and numbers of channels.
void LogLines::TakeShape(std::string_view text) {
  if (text.starts_with("Channel ") && text.find('/') < 12) {  // "Channel 00/24 :    0   1"
    const size_t colon = text.find(" :");
    if (colon == text.npos) return;
    std::string ring;
    for (const std::string_view rank : Words(text.substr(colon + 2))) ring += StrCat(ring.empty() ? "" : " ", rank);
    Note("nccl.rings", Behind(text, "/"));
    return Note("nccl.ring_orders", ring);
  }
  if (text.starts_with("Trees ")) {
    const auto trees = std::ranges::count(text, '[');
    return Note("nccl.trees", StrCat(trees));
  }
  if (const size_t at = text.find(" coll channels"); at != text.npos) Note("nccl.channels", text.substr(0, at));
  if (text.find(" nvls channels") != text.npos) {
    std::string_view before = text.substr(0, text.find(" nvls channels"));
    Note("nccl.nvls_channels", TakeLastWord(before));
  }
}

// "Channel 00/0 : 0[0] -> 1[1] [send] via NET/IB/0/GDRDMA", "Channel 00 : 0[1000] -> 1[2000] via SHM/direct/direct"
void LogLines::TakeChannel(const LogLine& line) {
  const std::string_view text = line.text;
  const auto channel = NumberOf<int64_t>(Behind(text, "Channel ", " /:"));
  const size_t arrow = text.find("->"), colon = text.find(':'), via = text.find(" via ");
  if (!channel || arrow == text.npos || colon == text.npos || colon > arrow || via == text.npos || via < arrow) return;
  const std::string_view from = Trimmed(text.substr(colon + 1, arrow - colon - 1)),
                         to = Trimmed(text.substr(arrow + 2, via - arrow - 2));
  const auto src = NumberOf<int64_t>(from.substr(0, from.find('['))),
             dst = NumberOf<int64_t>(to.substr(0, to.find('[')));
  if (!src || !dst) return;
  std::string_view transport = text.substr(via + 5), comm;
  if (const size_t at = transport.find(" comm "); at != transport.npos)
    comm = Behind(transport, " comm "), transport = transport.substr(0, at);
  const auto of_thread = comm_of_thread_.find(line.thread);
  if (comm.empty() && of_thread != comm_of_thread_.end()) comm = of_thread->second;
  const std::string_view direction = to.find("[send]") != to.npos      ? "send"
                                     : to.find("[receive]") != to.npos ? "receive"
                                                                       : "";
  transport = Trimmed(transport);
  const auto pid = NumberOf<int64_t>(line.pid);
  builder_.Add({.host = line.host,
                .pid = pid ? *pid : kAbsent,
                .comm = comm,
                .channel = *channel,
                .src_rank = *src,
                .dst_rank = *dst,
                .direction = direction,
                .transport = transport,
                .family = transport.substr(0, transport.find('/'))});
}

// "AllReduce: opCount 0 sendbuff 0x… recvbuff 0x… count 2097152 datatype 7 op 0 root 0 comm 0x… [nranks=2] stream 0x…"
// "AllReduce: 8388608 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..23}"
void LogLines::TakeCall(std::string_view text) {
  Call call;
  call.kind = CollectiveKind(text.substr(0, text.find(':')));
  if (call.kind.empty() || call.kind == "other") return;
  if (const size_t bytes = text.find(" Bytes -> Algo "); bytes != text.npos) {
    const auto size = NumberOf<int64_t>(Trimmed(text.substr(text.find(':') + 1, bytes - text.find(':') - 1)));
    if (size) call.bytes = *size;
    call.algorithm = NameOf(Behind(text, " Algo "), kAlgorithms);
    call.protocol = NameOf(Behind(text, " proto "), kProtocols);
    const auto low = NumberOf<int64_t>(Behind(text, "channel{Lo..Hi}={", ".}")),
               high = NumberOf<int64_t>(Behind(Behind(text, "channel{Lo..Hi}={", "}"), "..", "}"));
    if (low && high && *low >= 0 && *high >= *low && *high < 1024) call.channels = *high - *low + 1;
    return CountCall(std::move(call));
  }
  const auto ranks = NumberOf<int64_t>(Behind(text, "[nranks=", "]")),
             count = NumberOf<int64_t>(Behind(text, " count "));
  const auto type = NumberOf<size_t>(Behind(text, " datatype "));
  if (ranks) call.ranks = *ranks;
  if (type && *type < std::size(kTypes)) call.dtype = kTypes[*type].name;
  constexpr int64_t kMost = int64_t{1} << 40;
  if (count && *count >= 0 && *count < kMost && type && *type < std::size(kTypes)) {
    const bool one_share = call.kind == "all_gather" || call.kind == "reduce_scatter" || call.kind == "all_to_all";
    if (!one_share || (ranks && *ranks > 0 && *ranks < (1 << 20)))
      call.bytes = *count * kTypes[*type].bytes * (one_share ? *ranks : 1);
  }
  CountCall(std::move(call));
}

void LogLines::CountCall(Call call) {
  constexpr size_t kMaxCalls = 10'000;
  if (calls_.size() < kMaxCalls || calls_.contains(call)) ++calls_[std::move(call)];
}

void LogLines::Finish() {
  for (const auto& [key, values] : notes_)
    if (!values.empty()) builder_.AddEnvironment(key, Join(values, ", "));
  for (const Message& message : messages_)
    builder_.Add({.host = message.host,
                  .level = message.level,
                  .text = message.text,
                  .place = message.place,
                  .count = message.count,
                  .line = message.line});
  for (const auto& [call, count] : calls_)
    builder_.Add(CommCallRow{.kind = call.kind,
                             .bytes = call.bytes,
                             .dtype = call.dtype,
                             .ranks = call.ranks,
                             .algorithm = call.algorithm,
                             .protocol = call.protocol,
                             .channels = call.channels,
                             .calls = count});
  builder_.Count("lost_messages", Severity::kLoss, lost_messages_, kAbsent,
                 "different warnings behind the first thousand were left out");
}

}  // namespace gapless::internal::nccl_log
