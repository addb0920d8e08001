// SPDX-License-Identifier: Apache-2.0
// Finds the imports of a Python file, the names they bind, and the place for a further import.
//
// "At the top" is a matter of habit in Python, so the rule is generous: after the docstring, imports may have up
// to four plain statements between them, and stand in short `try` and `if` blocks. The first definition ends the
// top. `if __name__ == …` is no place for imports. An import counts as the file's own only where it has certainly run:
// at the top level, in a `try`, or in each branch of an `if` with an `else`.
#include "optimize/patch/imports.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr int kMaxBetween = 4;         // plain statements between two imports that both are "at the top"
constexpr size_t kMaxBlockLines = 20;  // logical lines of a block around an import

std::string FirstPart(const std::string& module) { return module.substr(0, module.find('.')); }

bool IsImport(const PythonNode& node) {
  const std::string_view kind = node.kind();
  return kind == "import_statement" || kind == "import_from_statement" || kind == "future_import_statement";
}

Bindings BindingsOf(const PythonSource& source, const PythonNode& import) {
  Bindings found;
  const bool from = import.kind() == "import_from_statement";
  if (!from && import.kind() != "import_statement") return found;
  const PythonNode module = import.Field("module_name");
  for (const PythonNode& child : import.Children()) {
    if (child == module) continue;
    const PythonNode alias = child.Field("alias");
    const std::string name(source.TextOf(alias ? child.Field("name") : child));
    Binding binding{.module = from ? std::string(source.TextOf(module)) : name, .name = from ? name : ""};
    binding.as = alias ? std::string(source.TextOf(alias)) : from ? name : FirstPart(name);
    found.push_back(std::move(binding));
  }
  return found;
}

// Returns true if an import that binds `own` makes `wanted` known, too, as `import a.b` does with `a`.
bool Binds(const Binding& own, const Binding& wanted) {
  const bool whole = wanted.name.empty() && own.name.empty() && wanted.as == wanted.module &&
                     FirstPart(own.module) == wanted.module && own.as == wanted.as;
  return own == wanted || whole;
}

// Returns what the first statements of a block bind.
Bindings OfBlock(const PythonSource& source, const PythonNode& block) {
  Bindings found;
  auto statements = block.Children();
  if (statements.size() > kMaxBlockLines) statements.resize(kMaxBlockLines);
  for (const PythonNode& statement : statements)
    std::ranges::move(BindingsOf(source, statement), std::back_inserter(found));
  return found;
}

// Returns what every branch of an `if` binds; nothing without an `else`.
Bindings OfBranches(const PythonSource& source, const PythonNode& statement) {
  Bindings common = OfBlock(source, statement.Field("consequence"));
  bool complete = false;
  for (const PythonNode& child : statement.Children()) {
    if (!child.kind().ends_with("_clause")) continue;
    complete = child.kind() == "else_clause";
    const Bindings branch = OfBlock(source, child.Field(complete ? "body" : "consequence"));
    std::erase_if(common, [&](const Binding& binding) { return std::ranges::find(branch, binding) == branch.end(); });
  }
  return complete ? common : Bindings();
}

// Returns what a statement at the top level of the file has bound when it has run.
Bindings OfStatement(const PythonSource& source, const PythonNode& statement) {
  if (statement.kind() == "try_statement") return OfBlock(source, statement.Field("body"));
  if (statement.kind() == "if_statement") return OfBranches(source, statement);
  return BindingsOf(source, statement);
}

// Returns true if the logical lines are a block at the top that holds an import: `try: import a; except …: …`.
bool IsBlockAtTop(const PythonSource& source, size_t first, size_t past) {
  const LogicalLine& head = source.lines()[first];
  const std::string_view kind = head.statement.kind();
  if ((kind != "try_statement" && kind != "if_statement") || past - first > kMaxBlockLines) return false;
  if (source.text().substr(head.begin, head.end - head.begin).find("__name__") != std::string_view::npos) return false;
  const auto lines = std::span(source.lines()).subspan(first, past - first);
  return std::ranges::any_of(lines, IsImport, &LogicalLine::statement) &&
         std::ranges::none_of(lines,
                              [](const LogicalLine& line) { return line.statement.kind().ends_with("_definition"); });
}

// Returns true if the first statement is the docstring, or begins as one.
bool BeginsWithString(const PythonSource& source) {
  PythonNode node = source.lines()[0].statement;
  if (node.kind() != "expression_statement") return false;
  while (node.kind() != "string") {
    const auto children = node.Children();
    if (children.empty()) return false;
    if (children[0].begin() > node.begin() && node.kind() != "parenthesized_expression") return false;
    node = children[0];
  }
  return true;
}

}  // namespace

Bindings BindingsOf(std::string_view line) {
  const auto source = PythonSource::Parse(std::string(line));
  if (!source || source->statements().size() != 1) return {};
  return BindingsOf(*source, source->statements().front());
}

std::set<std::string, std::less<>> AliasesOf(const PythonSource& source, std::string_view name) {
  std::set<std::string, std::less<>> found;
  for (const PythonNode& statement : source.statements())
    for (const Binding& binding : BindingsOf(source, statement))
      if (binding.name == name && binding.as != name) found.insert(binding.as);
  return found;
}

size_t BehindImports(const PythonSource& source, size_t limit) {
  const auto& lines = source.lines();
  if (lines.empty()) return source.text().size();
  const bool documented = BeginsWithString(source);
  size_t place = documented ? lines[0].end : lines[0].begin;
  int between = 0;
  for (size_t i = documented ? 1 : 0; i < lines.size();) {
    const size_t past = source.PastOf(i);
    if (lines[past - 1].end > limit) break;
    if (IsImport(lines[i].statement) || IsBlockAtTop(source, i, past)) {
      place = lines[past - 1].end;
      between = 0;
    } else if (past > i + 1 || lines[i].opens_block || lines[i].shared || ++between > kMaxBetween) {
      break;
    }
    i = past;
  }
  return place;
}

size_t ImportedBehind(const PythonSource& source, const Bindings& wanted, size_t limit) {
  if (wanted.empty()) return 0;
  Bindings missing = wanted;
  for (const PythonNode& statement : source.tree().root().Children()) {
    const size_t end = source.lines()[source.IndexAt(source.LineOf(statement.end() - 1))].end;
    if (end > limit) break;
    for (const Binding& own : OfStatement(source, statement))
      std::erase_if(missing, [&](const Binding& binding) { return Binds(own, binding); });
    if (missing.empty()) return end;
  }
  return 0;
}

int DeletedAt(const PythonSource& source, const Bindings& wanted, size_t limit) {
  int line = 0;
  source.tree().Walk([&](const PythonNode& node) {
    const std::string_view kind = node.kind();
    if (line > 0 || node.begin() >= limit || kind.ends_with("_definition") || kind == "lambda") return false;
    if (kind != "delete_statement")
      return kind.ends_with("_statement") || kind.ends_with("_clause") || kind == "block" || kind == "module";
    std::vector<PythonNode> names = node.Children();
    if (!names.empty() && names[0].kind() == "expression_list") names = names[0].Children();
    for (const PythonNode& name : names)
      if (std::ranges::find(wanted, source.TextOf(name), &Binding::as) != wanted.end())
        line = source.LineOf(node.begin());
    return false;
  });
  return line;
}

size_t BehindFuture(const PythonSource& source) {
  size_t behind = 0;
  for (const PythonNode& statement : source.tree().root().Children())
    if (statement.kind() == "future_import_statement")
      behind = source.lines()[source.IndexAt(source.LineOf(statement.begin()))].end;
  return behind;
}

size_t TopOf(const PythonSource& source) {
  if (source.lines().empty()) return 0;
  return std::max(BehindFuture(source), BeginsWithString(source) ? source.lines()[0].end : size_t{0});
}

}  // namespace gapless::internal
