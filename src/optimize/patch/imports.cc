// SPDX-License-Identifier: Apache-2.0
// Finds the imports of a Python file, the names they bind, and the place for a further import.
//
// "At the top" is a matter of habit in Python, so the rule is generous: after the docstring, imports may have up
// to four plain statements between them, and stand in short `try` and `if` blocks. The first definition ends the
// top. `if __name__ == …` is no place for imports.
#include "optimize/patch/imports.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr int kMaxBetween = 4;        // plain statements between two imports that both are "at the top"
constexpr size_t kLongestBlock = 20;  // lines of a block around an import

// Words, commas and brackets; backslashes and comments are gone.
std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    size_t end = i;
    while (end < text.size() && (IsNameByte(text[end]) || text[end] == '.')) ++end;
    if (end > i) words.emplace_back(text.substr(i, end - i));
    if (end == i && (text[i] == ',' || text[i] == '*' || text[i] == ';')) words.emplace_back(1, text[i]);
    i = std::max(end, i + 1);
  }
  return words;
}

std::string FirstPart(const std::string& module) { return module.substr(0, module.find('.')); }

bool IsImport(const LogicalLine& line) { return line.keyword == "import" || line.keyword == "from"; }

// A block at the top that holds an import: `try: import a; except ImportError: …`.
bool HoldsImport(const PythonSource& source, size_t first, size_t past) {
  const std::string_view keyword = source.lines()[first].keyword;
  if ((keyword != "try" && keyword != "if") || past - first > kLongestBlock) return false;
  if (source.CodeOf(source.lines()[first]).find("__name__") != std::string_view::npos) return false;
  const auto lines = std::span(source.lines()).subspan(first, past - first);
  return std::ranges::any_of(lines, IsImport) && std::ranges::none_of(lines, [](const LogicalLine& line) {
           return line.keyword == "def" || line.keyword == "class";
         });
}

}  // namespace

std::vector<Binding> BindingsOf(std::string_view statement) {
  const auto words = Words(statement);
  std::vector<Binding> found;
  if (words.size() < 2 || (words[0] != "import" && words[0] != "from")) return found;
  const bool from = words[0] == "from";
  if (from && (words.size() < 4 || words[2] != "import")) return found;
  for (size_t i = from ? 3 : 1; i < words.size() && words[i] != ";"; ++i) {
    if (words[i] == ",") continue;
    Binding binding{.module = from ? words[1] : words[i], .name = from ? words[i] : "", .as = words[i]};
    if (i + 2 < words.size() && words[i + 1] == "as") {
      binding.as = words[i + 2];
      i += 2;
    } else if (!from) {
      binding.as = FirstPart(words[i]);
    }
    found.push_back(std::move(binding));
  }
  return found;
}

std::vector<std::string> AliasesOf(const PythonSource& source, std::string_view name) {
  std::vector<std::string> found;
  for (const LogicalLine& line : source.lines()) {
    if (line.keyword != "from") continue;
    for (const Binding& binding : BindingsOf(source.CodeOf(line)))
      if (binding.name == name && binding.as != name && std::ranges::find(found, binding.as) == found.end())
        found.push_back(binding.as);
  }
  return found;
}

size_t BehindImports(const PythonSource& source) {
  const auto& lines = source.lines();
  if (lines.empty()) return source.text().size();
  size_t place = lines[0].begin;
  const bool documented = !source.IsCode(lines[0].code_begin) && !lines[0].shared;
  if (documented) place = lines[0].end;
  int between = 0;
  for (size_t i = documented ? 1 : 0; i < lines.size();) {
    const size_t past = source.PastOf(i);
    if (IsImport(lines[i]) || HoldsImport(source, i, past)) {
      place = lines[past - 1].end;
      between = 0;
    } else if (past > i + 1 || lines[i].opens_block || lines[i].shared || ++between > kMaxBetween) {
      break;
    }
    i = past;
  }
  return place;
}

size_t ImportedBehind(const PythonSource& source, std::string_view statement, size_t limit) {
  const auto wanted = BindingsOf(statement);
  std::vector<Binding> have;
  const auto is_there = [&](const Binding& binding) {
    return std::ranges::any_of(have, [&](const Binding& other) {
      // `import a.b` makes `a` known, too.
      const bool whole = binding.name.empty() && other.name.empty() && binding.as == binding.module &&
                         FirstPart(other.module) == binding.module && other.as == binding.as;
      return other == binding || whole;
    });
  };
  const auto& lines = source.lines();
  for (size_t i = 0; i < lines.size() && !wanted.empty();) {
    const size_t past = source.PastOf(i);
    if (lines[past - 1].end > limit) break;
    for (size_t j = i; j < past && (j == i || HoldsImport(source, i, past)); ++j)
      if (IsImport(lines[j])) std::ranges::move(BindingsOf(source.CodeOf(lines[j])), std::back_inserter(have));
    if (std::ranges::all_of(wanted, is_there)) return lines[past - 1].end;
    i = past;
  }
  return 0;
}

size_t BehindFuture(const PythonSource& source) {
  size_t behind = 0;
  for (const LogicalLine& line : source.lines()) {
    const auto bindings = line.keyword == "from" ? BindingsOf(source.CodeOf(line)) : std::vector<Binding>();
    if (!bindings.empty() && bindings[0].module == "__future__") behind = line.end;
  }
  return behind;
}

}  // namespace gapless::internal
