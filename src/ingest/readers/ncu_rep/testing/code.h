// SPDX-License-Identifier: Apache-2.0
// Makes pieces of machine code with lines, as they lie in reports of Nsight Compute.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/readers/ncu_rep/testing/reports.h"

namespace gapless::internal::ncu_rep::testing {

// A program of lines in version 2 of DWARF. Folders: /src; files: k.cu there, and /lib/math.h.
inline std::string LineProgram(const std::string& statements) {
  std::string head = Little(1, 1) + Little(1, 1) + Little(251, 1) + Little(14, 1) + Little(10, 1);
  head += std::string("\0\1\1\1\1\0\0\0\1", 9);
  head += std::string("/src\0\0", 6) + std::string("k.cu\0\1\0\0/lib/math.h\0\1\0\0\0", 24);
  const std::string body = Little(2, 2) + Little(head.size(), 4) + head + statements;
  return Little(body.size(), 4) + body;
}

// Line 10 of k.cu at 0, 15 at 16, 7 of math.h at 32; the function ends at 48.
inline std::string ThreeLines() {
  std::string out = std::string("\0\x09\x02", 3) + std::string(8, '\0');
  out += std::string("\x03\x09\x01", 3) + std::string("\x02\x10\x03\x05\x01", 5);
  out += std::string("\x02\x10\x04\x02\x03\x78\x01", 7) + std::string("\x02\x10\0\x01\x01", 5);
  return out;
}

// An ELF file: its symbol 1 is a function of 48 bytes at byte 128 of section 4; the place in the lines where its
// address belongs is byte `relocated`.
inline std::string Elf(const std::string& lines, uint64_t relocated) {
  const std::string names("\0.debug_line\0", 13);
  const std::string symbols =
      std::string(24, '\0') + Little(0, 4) + Little(0x12, 2) + Little(4, 2) + Little(128, 8) + Little(48, 8);
  const std::string places = Little(relocated, 8) + Little((uint64_t{1} << 32) | 2, 8) + Little(0, 8);
  struct Part {
    std::string bytes;
    uint64_t name, type, info;
  };
  const std::vector<Part> parts = {{"", 0, 0, 0},    {names, 0, 3, 0},  {symbols, 0, 2, 0},
                                   {lines, 1, 1, 0}, {"code", 0, 1, 0}, {places, 0, 4, 3}};
  std::string body, table;
  for (const Part& part : parts) {
    table += Little(part.name, 4) + Little(part.type, 4) + std::string(16, '\0') + Little(64 + body.size(), 8);
    table += Little(part.bytes.size(), 8) + Little(0, 4) + Little(part.info, 4) + std::string(16, '\0');
    body += part.bytes;
  }
  std::string head(
      "\x7f"
      "ELF\x02\x01",
      6);
  head.resize(40);
  head += Little(64 + body.size(), 8) + std::string(10, '\0') + Little(64, 2) + Little(parts.size(), 2) + Little(1, 2);
  return head + body + table;
}

inline std::string CodeWithLines() {
  const std::string lines = LineProgram(ThreeLines());
  return Elf(lines, lines.size() - ThreeLines().size() + 3);
}

// A value of a metric for the instruction at an address.
inline Message At(uint64_t address, uint64_t count) {
  return Message().Add(1, Message().Int(5, address)).Add(2, Message().Int(5, count));
}

}  // namespace gapless::internal::ncu_rep::testing
