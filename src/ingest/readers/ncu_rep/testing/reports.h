// SPDX-License-Identifier: Apache-2.0
// Makes reports of Nsight Compute for tests, from docs/formats/ncu_rep.md.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal::ncu_rep::testing {

inline std::string Little(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i, value >>= 8) out += static_cast<char>(value & 255);
  return out;
}

// A message as it is built: Message().Int(22, 1).Text(7, "gemm(float *)").
class Message {
 public:
  Message& Int(uint64_t number, uint64_t value) { return Varint(number << 3).Varint(value); }
  Message& Real(uint64_t number, double value) {
    Varint((number << 3) | 1);
    bytes_ += Little(std::bit_cast<uint64_t>(value), 8);
    return *this;
  }
  Message& Text(uint64_t number, std::string_view text) {
    Varint((number << 3) | 2).Varint(text.size());
    bytes_ += text;
    return *this;
  }
  Message& Add(uint64_t number, const Message& message) { return Text(number, message.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  Message& Varint(uint64_t value) {
    for (; value > 127; value >>= 7) bytes_ += static_cast<char>((value & 127) | 128);
    bytes_ += static_cast<char>(value);
    return *this;
  }
  std::string bytes_{};
};

inline std::string Sized(const std::string& bytes) { return Little(bytes.size(), 4) + bytes; }

// A metric by the place of its name, with a number.
inline Message Number(uint64_t name, double value) { return Message().Int(1, name).Add(2, Message().Real(3, value)); }
inline Message Words(uint64_t name, std::string_view text) {
  return Message().Int(1, name).Add(2, Message().Text(1, text));
}

// The outcome of a rule in a section: texts, and the speedup that goes with the first; below 0: none.
inline Message Rule(std::string_view name, std::string_view section, const std::vector<std::string>& texts,
                    double speedup = -1) {
  Message body;
  for (size_t i = 0; i < texts.size(); ++i) {
    Message item;
    item.Add(1, Message().Text(1, texts[i]).Int(2, 2));
    if (i == 0 && speedup >= 0) item.Add(10, Message().Int(1, 1).Real(2, speedup));
    body.Add(1, item);
  }
  return Message().Text(1, name).Text(2, "for people").Add(3, body).Text(4, section);
}

inline Message Section(std::string_view id, std::string_view name, uint64_t order) {
  return Message().Text(1, id).Text(2, name).Int(3, order);
}

// A launch of 2 blocks of 64 threads in the context 1, stream 7, without metrics.
inline Message Launch(std::string_view kernel) {
  return Message()
      .Text(5, "_Z4gemmPf")
      .Text(6, "gemm")
      .Text(7, kernel)
      .Add(10, Message().Int(1, 2).Int(2, 1).Int(3, 1))
      .Add(11, Message().Int(1, 64).Int(2, 1).Int(3, 1))
      .Int(22, 1)
      .Int(23, 7);
}

// A block of a report; each part may be made wrong.
struct Block {
  std::vector<std::string> names{};
  std::vector<Message> results{};
  int sources = 0;      // pieces of code, each of 100 bytes, before the results
  uint64_t ranges = 0;  // said in the header; nothing of them is written
  std::string process = "/opt/train/app";
  std::string behind{};      // in the payload, behind the messages
  int64_t payload_more = 0;  // than there is, in the header

  std::string Bytes() const {
    std::string payload;
    for (int i = 0; i < sources; ++i) payload += Sized(std::string(100, 'c'));
    for (const Message& result : results) payload += Sized(result.bytes());
    payload += behind;
    Message header, strings;
    for (const std::string& name : names) strings.Text(1, name);
    header.Int(1, static_cast<uint64_t>(sources)).Int(2, results.size()).Add(4, strings);
    header.Int(5, static_cast<uint64_t>(static_cast<int64_t>(payload.size()) + payload_more));
    header.Add(6, Message().Int(1, 4711).Text(2, "127.0.0.1").Text(3, process)).Int(7, ranges);
    return Sized(header.bytes()) + payload;
  }
};

inline std::string Report(const std::vector<Block>& blocks, uint64_t version = 7) {
  std::string file("NVR\0", 4);
  file += Sized(Message().Int(1, version).bytes());
  for (const Block& block : blocks) file += block.Bytes();
  return file;
}

}  // namespace gapless::internal::ncu_rep::testing
