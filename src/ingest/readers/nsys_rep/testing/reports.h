// SPDX-License-Identifier: Apache-2.0
// Makes reports of Nsight Systems for tests, from docs/formats/nsys_rep.md. Blocks are LZ4 of literals alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal::nsys_rep::testing {

inline std::string Varint(uint64_t value) {
  std::string out;
  for (; value > 127; value >>= 7) out += static_cast<char>((value & 127) | 128);
  return out + static_cast<char>(value);
}

// A message as it is built: Message().Int(1, 27).Text(5, "python").
class Message {
 public:
  Message& Int(uint64_t number, int64_t value) {
    bytes_ += Varint(number << 3) + Varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message& Text(uint64_t number, std::string_view text) {
    bytes_ += Varint((number << 3) | 2) + Varint(text.size());
    bytes_ += text;
    return *this;
  }
  Message& Add(uint64_t number, const Message& message) { return Text(number, message.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

inline std::string Sized(const std::string& bytes) { return Varint(bytes.size()) + bytes; }

// Literals in the form of LZ4's blocks.
inline std::string Literals(const std::string& plain) {
  std::string out(1, static_cast<char>(std::min<size_t>(plain.size(), 15) << 4));
  if (plain.size() >= 15) {
    size_t rest = plain.size() - 15;
    for (; rest >= 255; rest -= 255) out += '\xFF';
    out += static_cast<char>(rest);
  }
  return out + plain;
}

inline std::string Block(const std::string& message) {
  const std::string plain = Sized(message), packed = Literals(plain);
  return Varint(packed.size()) + Varint(plain.size()) + packed;
}

// The bodies that an event may have.
inline Message Event(int64_t kind, uint64_t family, const Message& body) {
  return Message().Int(1, kind).Add(family, body);
}
// Work of the device 0 in the process `pid`, of which `own` describes the kind in the field `field`.
inline Message Work(int64_t start, int64_t end, int64_t correlation, uint64_t field, const Message& own,
                    int64_t pid = 100) {
  return Event(79, 107,
               Message()
                   .Int(1, start)
                   .Int(2, end)
                   .Int(3, correlation)
                   .Int(4, 0)
                   .Int(5, 1)
                   .Int(6, 7)
                   .Int(8, (int64_t{1} << 48) | (pid << 24))
                   .Add(field, own));
}
inline int64_t ThreadOf(int64_t pid) { return (int64_t{1} << 48) | (pid << 24) | pid; }

// The parts of a report; each part may be made wrong.
struct Report {
  std::string version = "2025.3.2.474", codec = "lz4", magic = "QDTEXT00", end = "U3w[END]";
  Message session{}, target{}, threads{}, conversions{};
  std::vector<std::string> texts = {"", "cudaLaunchKernel_v7000", "gemm", "short"};
  std::vector<std::vector<Message>> blocks{};
  std::vector<Message> generic{}, layouts{};
  int64_t events_more = 0;         // than there are, in the index
  std::vector<std::string> raw{};  // blocks as they are, behind the others

  std::string Index() const {
    int64_t events = events_more;
    for (const auto& block : blocks) events += static_cast<int64_t>(block.size());
    Message index;
    index.Int(1, events).Int(3, static_cast<int64_t>(texts.size())).Int(15, static_cast<int64_t>(generic.size()));
    for (const Message& layout : layouts) index.Add(14, layout);
    return index.bytes();
  }

  std::string Bytes() const {
    std::string events = magic + Sized(session.bytes()) + Sized(Index());
    for (size_t i = 0; i < blocks.size(); ++i) {
      Message message;
      for (const Message& event : blocks[i]) message.Add(1, event);
      for (size_t of = 0; i == 0 && of < generic.size(); ++of) message.Add(2, generic[of]);
      events += Block(message.bytes());
    }
    for (const std::string& block : raw) events += block;
    const size_t place = events.size() - magic.size();
    Message all;
    for (const std::string& text : texts) all.Text(1, text);
    events += Block(all.bytes()) + Sized(threads.bytes()) + Sized(target.bytes());
    std::string file = "NVIDIA Tegra Profiler Report 1.", directory;
    const auto add = [&](std::string_view name, const std::string& content) {
      Message entry;
      entry.Text(1, name).Int(2, static_cast<int64_t>(file.size())).Int(3, static_cast<int64_t>(content.size()));
      directory += Message().Add(1, entry).bytes();
      file += content;
    };
    add("Raw Sampling Data", events);
    add("Sampling Data Offsets", Message().Text(1, codec).Int(2, static_cast<int64_t>(place)).bytes());
    add("UI Data", Message().Text(6, version).bytes());
    if (!conversions.bytes().empty()) add("Time Conversion Data", conversions.bytes());
    uint64_t at = file.size();
    file += directory;
    for (int byte = 0; byte < 8; ++byte, at >>= 8) file += static_cast<char>(at & 255);
    return file + end;
  }
};

}  // namespace gapless::internal::nsys_rep::testing
