// SPDX-License-Identifier: Apache-2.0
// Code is not linked when it lies in a report, so the addresses of its lines are gaps, which an entry of a table of
// relocations fills: "at this byte of the lines stands the address of that symbol". A row belongs to the section of the
// symbol, and its address counts from the beginning of the section.
#include "ingest/readers/ncu_rep/line_table.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace gapless::internal::ncu_rep {
namespace {

constexpr size_t kMostRows = size_t{1} << 21, kMostFiles = 4096, kMostSections = 65536;
constexpr uint32_t kSymbols = 2, kRelaEntries = 4, kRelEntries = 9;  // types of sections

// Takes numbers off the front of bytes. What is not there is 0, and ends it.
class ElfBytes {
 public:
  explicit ElfBytes(std::string_view bytes) : rest_(bytes) {}
  bool ended() const { return rest_.empty(); }
  size_t left() const { return rest_.size(); }

  uint64_t Little(size_t size) {
    const std::string_view bytes = Take(size);
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size(); ++i) value |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return value;
  }
  uint64_t Leb(int64_t* as_signed = nullptr) {
    uint64_t value = 0;
    unsigned shift = 0;
    for (; !rest_.empty(); shift += 7) {
      const uint64_t byte = Little(1);
      if (shift < 64) value |= (byte & 127) << shift;
      if (byte >= 128) continue;
      if (as_signed != nullptr && shift + 7 < 64 && (byte & 64) != 0) value |= ~uint64_t{0} << (shift + 7);
      break;
    }
    if (as_signed != nullptr) *as_signed = static_cast<int64_t>(value);
    return value;
  }
  std::string_view Text() {
    const size_t end = rest_.find('\0');
    if (end == std::string_view::npos) return Take(rest_.size() + 1);
    const std::string_view text = Take(end);
    rest_.remove_prefix(1);
    return text;
  }
  std::string_view Take(uint64_t size) {
    if (size > rest_.size()) return rest_ = {};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

 private:
  std::string_view rest_;
};

struct ElfSection {
  std::string_view name{}, bytes{};
  uint32_t type = 0;
  uint64_t info = 0;
};

std::string_view PartOf(std::string_view file, uint64_t begin, uint64_t size) {
  return begin > file.size() || size > file.size() - begin ? std::string_view() : file.substr(begin, size);
}

std::vector<ElfSection> ElfSections(std::string_view elf) {
  constexpr std::string_view kMagic(
      "\x7f"
      "ELF\x02\x01",
      6);  // of 64 bits, little-endian
  constexpr size_t kHead = 64, kEntry = 64;
  if (!elf.starts_with(kMagic) || elf.size() < kHead) return {};
  const uint64_t table = ElfBytes(elf.substr(40)).Little(8);
  const uint64_t entry = ElfBytes(elf.substr(58)).Little(2), count = ElfBytes(elf.substr(60)).Little(2),
                 names_at = ElfBytes(elf.substr(62)).Little(2);
  if (entry != kEntry || count > kMostSections || names_at >= count) return {};
  std::vector<ElfSection> sections(count);
  std::vector<uint64_t> names(count);
  for (uint64_t i = 0; i < count; ++i) {
    ElfBytes head(PartOf(elf, table + i * kEntry, kEntry));
    names[i] = head.Little(4);
    sections[i].type = static_cast<uint32_t>(head.Little(4));
    head.Take(16);  // flags, address
    const uint64_t begin = head.Little(8), size = head.Little(8);
    head.Take(4);  // link
    sections[i].info = head.Little(4);
    sections[i].bytes = PartOf(elf, begin, size);
  }
  for (uint64_t i = 0; i < count; ++i) {
    const std::string_view texts = sections[names_at].bytes;
    if (names[i] < texts.size()) sections[i].name = ElfBytes(texts.substr(names[i])).Text();
  }
  return sections;
}

}  // namespace

// A program of lines, and the row that it builds.
struct LineTable::Unit {
  ElfBytes program{""};
  size_t end = 0;  // of the program in the section
  uint64_t step = 1, line_range = 1, opcode_base = 1;
  int64_t line_base = 0;
  std::array<uint8_t, 256> operands{};  // of opcodes
  std::vector<uint32_t> files{};        // places in files_
  const std::map<uint64_t, std::pair<uint64_t, uint64_t>>* targets = nullptr;

  bool placed = false;  // is there a section?
  uint64_t section = 0, address = 0, file = 1;
  int64_t line = 1;
};

LineTable LineTable::Of(std::string_view elf) {
  LineTable table;
  const std::vector<ElfSection> sections = ElfSections(elf);
  for (const ElfSection& section : sections) {
    if (section.type != kSymbols) continue;
    for (ElfBytes symbols(section.bytes); symbols.left() >= 24;) {
      symbols.Take(6);  // name, kind
      const uint64_t of = symbols.Little(2), value = symbols.Little(8);
      table.symbols_.push_back({of, value, symbols.Little(8)});
    }
    break;
  }
  for (size_t at = 0; at < sections.size(); ++at) {
    if (sections[at].name != ".debug_line") continue;
    std::map<uint64_t, std::pair<uint64_t, uint64_t>> targets;  // place in the lines: symbol, further bytes
    for (const ElfSection& section : sections) {
      const bool more = section.type == kRelaEntries;
      if ((!more && section.type != kRelEntries) || section.info != at) continue;
      for (ElfBytes entries(section.bytes); entries.left() >= (more ? 24U : 16U);) {
        const uint64_t place = entries.Little(8), what = entries.Little(8);
        targets[place] = {what >> 32, more ? entries.Little(8) : 0};
      }
    }
    table.TakeLines(sections[at].bytes, targets);
  }
  for (auto& [section, rows] : table.rows_) std::ranges::stable_sort(rows, {}, &Row::address);
  return table;
}

void LineTable::TakeLines(std::string_view lines, const std::map<uint64_t, std::pair<uint64_t, uint64_t>>& targets) {
  for (size_t begin = 0; begin < lines.size() && row_count_ < kMostRows;) {
    Unit unit;
    unit.targets = &targets;
    if (!TakeUnit(lines, begin, unit)) return;
    RunUnit(unit);
    begin = unit.end;
  }
}

// Takes the head of a program. False: there is none, or it is of another version.
bool LineTable::TakeUnit(std::string_view lines, size_t begin, Unit& unit) {
  ElfBytes all(lines.substr(begin));
  const uint64_t size = all.Little(4);
  if (size > all.left() || size == 0) return false;
  unit.end = begin + 4 + size;
  ElfBytes head(all.Take(size));
  const uint64_t version = head.Little(2), head_size = head.Little(4);
  if (version < 2 || version > 4 || head_size > head.left()) return false;
  ElfBytes rest(head.Take(head_size));
  unit.program = head;
  unit.step = rest.Little(1);
  if (version == 4) rest.Take(1);
  rest.Take(1);
  unit.line_base = static_cast<int8_t>(rest.Little(1));
  unit.line_range = std::max<uint64_t>(1, rest.Little(1));
  unit.opcode_base = std::max<uint64_t>(1, rest.Little(1));
  for (uint64_t i = 1; i < unit.opcode_base; ++i) unit.operands[i] = static_cast<uint8_t>(rest.Little(1));
  std::vector<std::string_view> folders{""};
  for (std::string_view folder; !(folder = rest.Text()).empty() && folders.size() < kMostFiles;)
    folders.push_back(folder);
  unit.files.push_back(0);
  if (files_.empty()) files_.emplace_back();
  for (std::string_view name; !(name = rest.Text()).empty() && files_.size() < kMostFiles;) {
    const uint64_t folder = rest.Leb();
    rest.Leb(), rest.Leb();  // time, size
    const bool inside = folder > 0 && folder < folders.size() && !name.starts_with('/');
    unit.files.push_back(static_cast<uint32_t>(files_.size()));
    files_.push_back(inside ? StrCat(folders[folder], '/', name) : std::string(name));
  }
  return true;
}

void LineTable::RunUnit(Unit& unit) {
  const auto advance = [&](uint64_t steps) { unit.address += steps * unit.step; };
  while (!unit.program.ended() && row_count_ < kMostRows) {
    const uint64_t code = unit.program.Little(1);
    int64_t by = 0;
    if (code >= unit.opcode_base) {
      const uint64_t special = code - unit.opcode_base;
      advance(special / unit.line_range);
      unit.line += unit.line_base + static_cast<int64_t>(special % unit.line_range);
      AddRow(unit, unit.line);
      continue;
    }
    switch (code) {
      case 0:
        if (!RunExtended(unit)) return;
        break;
      case 1: AddRow(unit, unit.line); break;
      case 2: advance(unit.program.Leb()); break;
      case 3:
        unit.program.Leb(&by);
        unit.line = static_cast<int64_t>(static_cast<uint64_t>(unit.line) + static_cast<uint64_t>(by));
        break;
      case 4: unit.file = unit.program.Leb(); break;
      case 8: advance((255 - unit.opcode_base) / unit.line_range); break;
      case 9: unit.address += unit.program.Little(2); break;
      default:
        for (uint8_t i = 0; i < unit.operands[code]; ++i) unit.program.Leb();
    }
  }
}

// Goes to another address, or ends a stretch of code. False: it is not all there.
bool LineTable::RunExtended(Unit& unit) {
  const uint64_t size = unit.program.Leb();
  const size_t place = unit.end - unit.program.left();
  if (size == 0 || size > unit.program.left()) return false;
  ElfBytes parts(unit.program.Take(size));
  const uint64_t code = parts.Little(1);
  if (code == 1) {
    AddRow(unit, 0);
    unit.placed = false, unit.address = 0, unit.file = 1, unit.line = 1;
  }
  if (code == 2) {
    const uint64_t written = parts.Little(8);
    const auto target = unit.targets->find(place + 1);
    unit.placed = target != unit.targets->end() && target->second.first < symbols_.size();
    if (!unit.placed) return true;
    const Symbol& symbol = symbols_[target->second.first];
    unit.section = symbol.section;
    unit.address = symbol.value + target->second.second + written;
  }
  return true;
}

void LineTable::AddRow(const Unit& unit, int64_t line) {
  if (!unit.placed || line < 0) return;
  rows_[unit.section].push_back({unit.address, unit.file < unit.files.size() ? unit.files[unit.file] : 0, line});
  ++row_count_;
}

std::optional<LineTable::Line> LineTable::Find(uint64_t symbol, uint64_t offset) const {
  if (symbol >= symbols_.size()) return std::nullopt;
  const auto rows = rows_.find(symbols_[symbol].section);
  if (rows == rows_.end()) return std::nullopt;
  const auto behind = std::ranges::upper_bound(rows->second, symbols_[symbol].value + offset, {}, &Row::address);
  if (behind == rows->second.begin()) return std::nullopt;
  const Row& row = *std::prev(behind);
  if (row.line <= 0 || row.file == 0 || row.file >= files_.size()) return std::nullopt;
  return Line{files_[row.file], row.line};
}

uint64_t LineTable::SizeOf(uint64_t symbol) const { return symbol < symbols_.size() ? symbols_[symbol].size : 0; }

}  // namespace gapless::internal::ncu_rep
