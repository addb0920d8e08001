// SPDX-License-Identifier: Apache-2.0
// The lines of machine code: which line of which source each instruction comes from. Compilers put this beside the code
// (`nvcc -lineinfo`; Triton always) as a program of DWARF, versions 2 to 4. The code itself is not looked at.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal::ncu_rep {

class LineTable {
 public:
  struct Line {
    std::string_view file;  // of the table
    int64_t line = 0;
  };

  // Reads a piece of machine code, an ELF file of 64 bits. Untrusted: each place is held to the file, rows are bounded,
  // and what is damaged ends the reading of its part. A file without lines gives an empty table.
  static LineTable Of(std::string_view elf);

  // Returns the line of the instruction `offset` bytes behind the beginning of a function, by the place of the
  // function among the symbols of the file.
  std::optional<Line> Find(uint64_t symbol, uint64_t offset) const;
  // Bytes of a function; 0: not known.
  uint64_t SizeOf(uint64_t symbol) const;

 private:
  struct Symbol {
    uint64_t section = 0, value = 0, size = 0;
  };
  struct Row {
    uint64_t address = 0;
    uint32_t file = 0;  // place in files_
    int64_t line = 0;   // 0: no code of a source
  };
  struct Unit;

  void TakeLines(std::string_view lines, const std::map<uint64_t, std::pair<uint64_t, uint64_t>>& targets);
  bool TakeUnit(std::string_view lines, size_t begin, Unit& unit);
  void RunUnit(Unit& unit);
  bool RunExtended(Unit& unit);
  void AddRow(const Unit& unit, int64_t line);

  std::vector<Symbol> symbols_{};
  std::vector<std::string> files_{};
  std::map<uint64_t, std::vector<Row>> rows_{};  // by section
  size_t row_count_ = 0;
};

}  // namespace gapless::internal::ncu_rep
