// SPDX-License-Identifier: Apache-2.0
// The syntax tree of a Python text. Only the source beside this header includes the parser, tree-sitter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

// A PythonNode is a node of a tree, or none. It is valid while its tree lives.
class PythonNode {
 public:
  explicit operator bool() const { return id_ != nullptr; }
  bool operator==(const PythonNode& other) const { return id_ == other.id_ && tree_ == other.tree_; }

  std::string_view kind() const;  // name of the grammar's rule, as "call" or "if_statement"
  size_t begin() const;           // byte of the text
  size_t end() const;
  PythonNode Field(std::string_view name) const;
  // Returns the children that have rules of their own: no punctuation, no comments.
  std::vector<PythonNode> Children() const;

 private:
  friend class PythonTree;
  // These are the members of the parser's own type.
  uint32_t context_[4] = {};
  const void* id_ = nullptr;
  const void* tree_ = nullptr;
};

class PythonTree {
 public:
  // Parses UTF-8 or ASCII. Returns an error with the line in `place` if the text is no Python 3 that the grammar
  // knows, or if parsing it would take minutes. The tree does not refer to the text.
  static Result<PythonTree> Parse(std::string_view text);

  PythonNode root() const;
  // Visits nodes in the order of the text, and those below a node for which `visit` returns true. What is below a
  // string is left out.
  void Walk(const std::function<bool(const PythonNode&)>& visit) const;

 private:
  struct Deletion {
    void operator()(void* tree) const;
  };
  std::unique_ptr<void, Deletion> tree_;
};

}  // namespace gapless::internal
