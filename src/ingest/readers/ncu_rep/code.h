// SPDX-License-Identifier: Apache-2.0
// The pieces of machine code of a report: where each function lay in the GPU's memory, and what its lines are. They are
// read only when samples ask for them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/readers/ncu_rep/container.h"
#include "ingest/readers/ncu_rep/line_table.h"

namespace gapless::internal::ncu_rep {

class Code {
 public:
  explicit Code(const Container& report) : report_(report) {}

  // Remembers where a piece of code lies.
  void Add(const Piece& piece) { waiting_.push_back(piece); }

  struct Place {
    std::string_view function{};  // its mangled name
    uint64_t offset = 0;          // of the instruction in it
    std::string_view file{};      // empty: not known
    int64_t line = 0;
  };
  // Returns where the instruction at an address lies, in the program that a launch names.
  std::optional<Place> Find(uint64_t program, uint64_t address);

  int64_t pieces() const { return static_cast<int64_t>(waiting_.size()) + read_; }
  // Pieces that samples asked for and that could not be read: too large, or not all there.
  int64_t unread() const { return unread_; }

 private:
  struct Function {
    std::string name{};
    uint64_t symbol = 0, table = 0;  // its place in tables_
  };
  void ReadWaiting();
  void Take(std::string_view message);

  const Container& report_;
  std::vector<Piece> waiting_{};
  std::vector<LineTable> tables_{};
  std::map<uint64_t, uint64_t> table_of_{};                       // by program
  std::map<uint64_t, std::map<uint64_t, Function>> functions_{};  // by program and address
  int64_t read_ = 0, unread_ = 0;
};

}  // namespace gapless::internal::ncu_rep
