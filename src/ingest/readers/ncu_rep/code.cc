// SPDX-License-Identifier: Apache-2.0
#include "ingest/readers/ncu_rep/code.h"

#include "base/wire_format.h"

namespace gapless::internal::ncu_rep {
namespace {

constexpr uint64_t kMostBytes = uint64_t{64} << 20;      // of a piece of code; libraries of matrix products have 3 MB
constexpr size_t kMostFunctions = 100000;                // of a program
constexpr uint64_t kMostOfFunction = uint64_t{1} << 28;  // bytes of one whose size is not known

}  // namespace

void Code::ReadWaiting() {
  std::string message;
  for (const Piece& piece : waiting_) {
    ++read_;
    if (piece.size > kMostBytes || !report_.ReadAt(piece, message))
      ++unread_;
    else
      Take(message);
  }
  waiting_.clear();
}

// A message has machine code and functions, or further functions of a program that came before.
void Code::Take(std::string_view message) {
  uint64_t program = 0;
  std::string_view elf;
  std::vector<std::string_view> lists;
  for (WireReader fields(message); fields.Next();) {
    if (fields.number() == 1 && !fields.is_bytes()) program = fields.Unsigned();
    if (fields.number() == 4 && fields.is_bytes()) elf = fields.bytes();
    if (fields.number() == 9 && fields.is_bytes()) lists.push_back(fields.bytes());
  }
  if (!elf.empty()) {
    table_of_[program] = tables_.size();
    tables_.push_back(LineTable::Of(elf));
  }
  const auto table = table_of_.find(program);
  auto& functions = functions_[program];
  for (const std::string_view list : lists)
    for (WireReader items(list); items.Next() && functions.size() < kMostFunctions;) {
      if (items.number() != 1 || !items.is_bytes()) continue;
      Function function{.table = table == table_of_.end() ? UINT64_MAX : table->second};
      uint64_t address = 0;
      for (WireReader parts(items.bytes()); parts.Next();) {
        if (parts.number() == 1 && parts.is_bytes()) function.name = parts.bytes();
        if (parts.number() == 2 && !parts.is_bytes()) address = parts.Unsigned();
        if (parts.number() == 3 && !parts.is_bytes()) function.symbol = parts.Unsigned();
      }
      functions.insert_or_assign(address, std::move(function));
    }
}

std::optional<Code::Place> Code::Find(uint64_t program, uint64_t address) {
  if (!waiting_.empty()) ReadWaiting();
  const auto functions = functions_.find(program);
  if (functions == functions_.end()) return std::nullopt;
  auto behind = functions->second.upper_bound(address);
  if (behind == functions->second.begin()) return std::nullopt;
  const auto& [begin, function] = *--behind;
  const LineTable* const table = function.table < tables_.size() ? &tables_[function.table] : nullptr;
  const uint64_t size = table == nullptr ? 0 : table->SizeOf(function.symbol);
  if (address - begin >= (size > 0 ? size : kMostOfFunction)) return std::nullopt;
  Place place{.function = function.name, .offset = address - begin};
  if (table == nullptr) return place;
  if (const auto line = table->Find(function.symbol, place.offset)) place.file = line->file, place.line = line->line;
  return place;
}

}  // namespace gapless::internal::ncu_rep
