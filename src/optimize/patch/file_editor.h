// SPDX-License-Identifier: Apache-2.0
// Edits of one Python file, brought together: those of one call become one, nested ones keep their places.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "optimize/change.h"
#include "optimize/patch/keyword_edit.h"
#include "optimize/patch/statement_edit.h"

namespace gapless::internal {

class FileEditor {
 public:
  explicit FileEditor(std::shared_ptr<const PythonSource> source) : source_(std::move(source)) {}

  // An error says why the edit does not fit the file as it is. The same edit twice is one.
  Result<void> Add(const Edit& edit);
  // All of them, in the order of Spliced().
  std::vector<Splice> Splices() const;
  // Parses the file with all edits in it. Returns an error unless it is Python in which each edited call has the
  // arguments that it had, with the values that were asked for.
  Result<void> Check() const;
  const PythonSource& source() const { return *source_; }
  FileEditor Unedited() const { return FileEditor(source_); }

 private:
  struct CallEdit {
    CallSite site;
    std::string name;
    Keywords set;
  };

  Result<void> AddOne(const Edit& edit);
  Result<void> AddKeywords(const Edit& edit);
  Result<void> AddStatement(const Edit& edit);
  Result<void> AddReplacement(const Edit& edit);
  bool IsReplaced(const StatementEdit& edit) const;
  Result<void> AddImports(const Edit& edit, size_t limit);
  Result<void> AddBehindImports(const Edit& edit);
  Result<bool> ReplaceSetting(const std::string& line, const Edit& edit);
  std::vector<Splice> SplicesOfCalls() const;
  void AddImportSplices(std::vector<Splice>& splices) const;

  std::shared_ptr<const PythonSource> source_;
  std::vector<CallEdit> calls_;
  std::vector<StatementEdit> statements_;
  std::vector<Splice> settings_;  // statements that become others: those that set something else than a change wants
  std::vector<std::string> imports_, behind_imports_;
  size_t behind_ = 0;                       // where behind_imports_ go at the earliest
  size_t before_ = std::string_view::npos;  // where imports_ go at the latest
};

}  // namespace gapless::internal
