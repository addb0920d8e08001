// SPDX-License-Identifier: Apache-2.0
// Sets keyword arguments of a call, in the call's own style of lines and commas.
//
// A keyword may be given already: by name, by position, or hidden in `*args` or `**options`. Hidden ones are
// handled where that is possible (`**{**options, "key": value}`), else refused. An added argument goes on a line
// of its own where the others do, and behind the last one elsewhere, with a line break if the line would exceed
// 100 columns.
#include "optimize/patch/keyword_edit.h"

#include <algorithm>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr size_t kWidest = 100;  // columns

class Editing {
 public:
  Editing(const PythonSource& source, const CallSite& call, std::string_view name)
      : source_(source), call_(call), name_(name) {}

  Result<std::vector<Splice>> Run(const Keywords& set) {
    GAPLESS_TRY(CheckArguments());
    Keywords added;
    for (const auto& [key, value] : set) {
      GAPLESS_ASSIGN(const auto given, Given(key));
      if (given == nullptr) {
        added.emplace_back(key, value);
      } else if (Text(given->value_begin, given->end) != value) {
        Replace(given->value_begin, given->end, value);
      }
    }
    if (added.empty()) return std::move(splices_);
    if (std::ranges::count(call_.arguments, 2, &Argument::stars) > 1)
      return Fail(ErrorCode::kInput, "the call takes its arguments from several mappings");
    Add(added);
    return std::move(splices_);
  }

 private:
  std::string_view Text(size_t begin, size_t end) const { return source_.text().substr(begin, end - begin); }
  void Replace(size_t begin, size_t end, std::string text) {
    splices_.push_back({.begin = begin, .end = end, .text = std::move(text)});
  }

  // Python takes names beyond ASCII for the same as others (NFKC), which are not compared here.
  Result<void> CheckArguments() const {
    const auto beyond = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
    for (const Argument& argument : call_.arguments)
      if (std::ranges::any_of(argument.name, beyond))
        return Fail(ErrorCode::kInput, StrCat("the call has the argument ", argument.name, ", a name beyond ASCII"));
    return {};
  }

  // The argument that sets `key`; null: none does.
  Result<const Argument*> Given(std::string_view key) const {
    const auto positional = PositionalNames(name_);
    size_t position = 0;
    bool hidden = false;
    const Argument* found = nullptr;
    for (const Argument& argument : call_.arguments) {
      if (argument.name == key) return &argument;
      if (argument.stars == 1) hidden = true;
      if (argument.stars > 0 || !argument.name.empty()) continue;
      if (!hidden && position < positional.size() && positional[position] == key) found = &argument;
      ++position;
    }
    if (found == nullptr && hidden && std::ranges::find(positional, key) != positional.end())
      return Fail(ErrorCode::kInput, StrCat("the call takes its arguments from a list, which may hold ", key));
    return found;
  }

  void Add(const Keywords& added) {
    const auto twice = std::ranges::find(call_.arguments, 2, &Argument::stars);
    if (twice != call_.arguments.end()) return IntoMapping(*twice, added);
    if (call_.arguments.size() == 1 && call_.arguments[0].generator && call_.arguments[0].name.empty()) {
      Replace(call_.arguments[0].begin, call_.arguments[0].begin, "(");
      after_last_ = ")";
    }
    if (call_.arguments.empty()) {
      Replace(call_.open + 1, call_.open + 1, Joined(added, ", "));
    } else if (OneALine()) {
      AddLines(added);
    } else {
      AddBehind(added);
    }
  }

  static std::string Joined(const Keywords& added, std::string_view separator) {
    std::vector<std::string> parts;
    for (const auto& [key, value] : added) parts.push_back(StrCat(key, "=", value));
    return Join(parts, separator);
  }

  // `**options` may hold what is added, which would be given twice then: it becomes `**{**options, "key": value}`.
  void IntoMapping(const Argument& mapping, const Keywords& added) {
    std::string rest;
    for (const auto& [key, value] : added) rest += StrCat(", \"", key, "\": ", value);
    Replace(mapping.value_begin, mapping.value_begin, mapping.loose ? "{**(" : "{**");
    Replace(mapping.end, mapping.end, StrCat(mapping.loose ? ")" : "", rest, "}"));
  }

  size_t StartOfLine(size_t offset) const { return source_.StartOf(source_.LineOf(offset)); }

  // Returns true if the closing bracket is on a line of its own.
  bool OneALine() const {
    const std::string_view before = Text(StartOfLine(call_.close), call_.close);
    return before.find_first_not_of(" \t") == std::string_view::npos;
  }

  std::string IndentAt(size_t offset) const {
    const std::string_view line = source_.text().substr(StartOfLine(offset));
    return std::string(line.substr(0, line.find_first_not_of(" \t")));
  }

  // Adds each keyword on a line of its own, with a comma behind it.
  void AddLines(const Keywords& added) {
    const Argument& last = call_.arguments.back();
    if (!call_.last_comma) after_last_ += ",";
    if (!after_last_.empty()) Replace(last.end, last.end, after_last_);
    // Indents like the arguments that begin a line; without such arguments one level below the bracket.
    const bool begins_line =
        Text(StartOfLine(last.begin), last.begin).find_first_not_of(" \t") == std::string_view::npos;
    const std::string indent =
        begins_line ? IndentAt(last.begin) : StrCat(IndentAt(call_.close), source_.indent_unit());
    std::string text;
    for (const auto& [key, value] : added) text += StrCat(indent, key, "=", value, ",", source_.line_end());
    const size_t place = StartOfLine(call_.close);
    splices_.push_back({.begin = place, .end = place, .text = text, .place = SplicePlace::kArgumentLine});
  }

  // Adds the keywords behind the last argument, and keeps a trailing comma if the call has one.
  void AddBehind(const Keywords& added) {
    const size_t last = call_.arguments.back().end;
    const std::string text = Joined(added, ", ");
    const size_t line = StartOfLine(last);
    const size_t ends = std::min(source_.text().find_first_of(source_.line_end().back(), line), source_.text().size());
    const bool wide = ends - line + text.size() + 2 > kWidest;
    const std::string gap = wide ? StrCat(source_.line_end(), Alignment()) : " ";
    if (call_.last_comma && after_last_.empty()) {
      Replace(*call_.last_comma + 1, *call_.last_comma + 1, StrCat(gap, text, ","));
    } else {
      if (call_.last_comma) Replace(*call_.last_comma, *call_.last_comma + 1, "");
      Replace(last, last, StrCat(after_last_, ",", gap, text));
    }
  }

  // White space up to below the first argument where that follows the bracket, else as the line of the last one begins.
  std::string Alignment() const {
    const size_t first = call_.arguments.front().begin;
    if (source_.LineOf(first) != source_.LineOf(call_.open)) return IndentAt(call_.arguments.back().end - 1);
    const std::string indent = IndentAt(call_.open);
    const std::string_view until = Text(StartOfLine(call_.open) + indent.size(), first);
    return StrCat(indent, std::string(static_cast<size_t>(DisplayWidth(Printable(until))), ' '));
  }

  const PythonSource& source_;
  const CallSite& call_;
  std::string_view name_;
  std::string after_last_;  // what comes right behind the last argument
  std::vector<Splice> splices_;
};

}  // namespace

Result<std::vector<Splice>> SplicesFor(const PythonSource& source, const CallSite& call, std::string_view name,
                                       const Keywords& set) {
  return Editing(source, call, name).Run(set);
}

bool HasArguments(const PythonSource& edited, const CallSite& call, const CallSite& before, const Keywords& set) {
  const size_t count = before.arguments.size();
  if (call.arguments.size() < count) return false;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& argument = call.arguments[i];
    const auto wanted = std::ranges::find(set, argument.name, &Keywords::value_type::first);
    if (i >= count && wanted == set.end()) return false;
    if (i < count && (argument.name != before.arguments[i].name || argument.stars != before.arguments[i].stars))
      return false;
    if (argument.name.empty()) continue;
    if (std::ranges::count(call.arguments, argument.name, &Argument::name) > 1) return false;
    const size_t size = argument.end - argument.value_begin;
    if (wanted != set.end() && edited.text().substr(argument.value_begin, size) != wanted->second) return false;
  }
  return true;
}

}  // namespace gapless::internal
