// SPDX-License-Identifier: Apache-2.0
// Merges edits of one Python file: calls, settings, statements before, after and around others. Overlapping edits
// are refused.
//
// Each accepted edit is kept as what it means, not as text, so that a later one can join it: keywords of one call
// become one edit, blocks around one statement nest. Splices() turns all of them into replacements of byte ranges,
// in an order that keeps nested insertions in their places. An edit that is refused leaves the editor as it was.
// The cost is linear in the file for each edit.
#include "optimize/patch/file_editor.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "base/result.h"
#include "base/strings.h"
#include "optimize/change.h"
#include "optimize/patch/imports.h"
#include "optimize/patch/python_source.h"
#include "optimize/patch/same_setting.h"

namespace gapless::internal {
namespace {

// Accepts only texts that cannot break out of the place in Python that they are put into.

// Returns true if the text has no control characters but tabs.
bool IsOneLine(std::string_view text) {
  return std::ranges::none_of(text, [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7F; });
}

bool IsAscii(std::string_view text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c >= 0x80; });
}

bool IsName(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsNameByte) && (text[0] < '0' || text[0] > '9');
}

// Returns true if the value is exactly one expression that may stand behind `key=`: within it, the grammar would also
// take `a as b`, and at its beginning `*a` and `a := b`.
bool IsExpression(const std::string& value) {
  constexpr std::string_view kBefore = "f(a=";
  const auto source = PythonSource::Parse(StrCat(kBefore, value, ")"));
  if (!source || source->statements().size() != 1) return false;
  PythonNode node = source->statements()[0];
  for (const std::string_view kind : {"expression_statement", "call", "argument_list", "keyword_argument"}) {
    const auto children = node.Children();
    if (node.kind() != kind || children.empty()) return false;
    if ((kind == "expression_statement" || kind == "argument_list") && children.size() != 1) return false;
    node = children.back();
  }
  bool plain = node.begin() == kBefore.size() && node.end() == kBefore.size() + value.size() &&
               node.kind() != "named_expression" && node.kind() != "list_splat";
  source->tree().Walk([&](const PythonNode& inner) { return plain = plain && inner.kind() != "as_pattern"; });
  return plain;
}

// Returns true if the lines are statements, with `pass` below them where they are heads of blocks.
bool AreStatements(const std::vector<std::string>& lines, bool heads) {
  std::string text, indent;
  for (const std::string& line : lines) {
    text += StrCat(indent, line, "\n");
    if (heads) indent += "    ";
  }
  const auto source = PythonSource::Parse(heads ? StrCat(text, indent, "pass\n") : text);
  return source && !source->lines().empty();
}

Result<void> CheckSyntax(const Edit& edit) {
  for (const std::string& import : edit.imports)
    if (BindingsOf(import).empty()) return Fail(ErrorCode::kInput, StrCat("'", Printable(import), "' is no import"));
  for (const auto& [key, value] : edit.set)
    if (!IsExpression(value))
      return Fail(ErrorCode::kInput, StrCat("the value of ", key, ", '", Printable(value), "', is no expression"));
  if (edit.lines.empty()) return {};
  const bool around = edit.kind == EditKind::kWith;
  if (around && (edit.lines.size() != 1 || !edit.lines[0].starts_with("with ") || !edit.lines[0].ends_with(':')))
    return Fail(ErrorCode::kInput, "the edit has no head of a with block");
  if (!AreStatements(edit.lines, around)) return Fail(ErrorCode::kInput, "the edit's lines are no statements");
  return {};
}

// Edits come from the process that trained, so nothing in them is trusted. Returns an error unless lines, imports and
// values are single lines that the file's encoding can hold, keywords are names, values are expressions, imports are
// imports, and the lines are statements, or the head of a block around one.
Result<void> CheckTexts(const Edit& edit, const PythonSource& source) {
  std::vector<std::string> texts = edit.lines;
  texts.insert(texts.end(), edit.imports.begin(), edit.imports.end());
  for (const auto& pair : edit.set) texts.push_back(pair.second);
  const bool named = std::ranges::all_of(
      edit.set, [](const auto& pair) { return IsName(pair.first) && IsAscii(pair.first) && !pair.second.empty(); });
  if (!named || !std::ranges::all_of(texts, IsOneLine))
    return Fail(ErrorCode::kInput, "the edit holds what no line of Python does");
  if (!source.is_utf8() && !std::ranges::all_of(texts, IsAscii))
    return Fail(ErrorCode::kInput, "the file is no UTF-8, and the edit holds characters beyond ASCII");
  return CheckSyntax(edit);
}

Unexpected Misfit(std::string_view why) { return Fail(ErrorCode::kInput, std::string(why)); }

// Returns the word of a statement behind which nothing of a block runs; empty for other statements.
std::string_view LeavingWord(const PythonNode& statement) {
  for (const std::string_view word : {"return", "raise", "break", "continue"})
    if (statement.kind().starts_with(word)) return word;
  return {};
}

}  // namespace

Result<void> FileEditor::Add(const Edit& edit) {
  FileEditor before = *this;
  auto added = AddOne(edit);
  for (size_t i = 0; i < edit.more.size() && added; ++i) added = AddOne(edit.more[i]);
  if (!added) *this = std::move(before);
  return added;
}

Result<void> FileEditor::AddOne(const Edit& edit) {
  GAPLESS_TRY(CheckTexts(edit, *source_));
  switch (edit.kind) {
    case EditKind::kKeywords: return AddKeywords(edit);
    case EditKind::kBefore:
    case EditKind::kAfter:
    case EditKind::kWith: return AddStatement(edit);
    case EditKind::kReplace: return AddReplacement(edit);
    case EditKind::kAfterImports: return AddBehindImports(edit);
    default: return Misfit("it is no edit of a file");
  }
}

// Joins the keywords with those that the call has got before; a later value wins.
Result<void> FileEditor::AddKeywords(const Edit& edit) {
  if (edit.set.empty()) return Misfit("the edit says nothing");
  GAPLESS_ASSIGN(auto site, FindCall(*source_, edit.call, edit.line));
  const auto same = [&](const CallEdit& call_edit) { return call_edit.site.name_begin == site.name_begin; };
  if (std::ranges::none_of(calls_, same))
    calls_.push_back({.site = site, .name = edit.of.empty() ? edit.call : edit.of, .set = {}});
  CallEdit& call = *std::ranges::find_if(calls_, same);
  for (const auto& [key, value] : edit.set) {
    const auto there = std::ranges::find(call.set, key, &Keywords::value_type::first);
    if (there == call.set.end()) {
      call.set.emplace_back(key, value);
    } else {
      there->second = value;
    }
  }
  GAPLESS_TRY(SplicesFor(*source_, call.site, call.name, call.set));
  if (Overlap(SplicesOfCalls())) return Misfit(StrCat("another change replaces line ", edit.line));
  return AddImports(edit, source_->lines()[source_->IndexAt(edit.line)].begin);
}

// Puts lines before, behind or around a statement. Nothing can be put between the clauses of a statement, or
// before `from __future__ import`, which must be first.
Result<void> FileEditor::AddStatement(const Edit& edit) {
  if (edit.lines.empty()) return Misfit("the edit says nothing");
  const auto& lines = source_->lines();
  const size_t at = source_->IndexAt(edit.line);
  if (at >= lines.size()) return Misfit(StrCat("line ", edit.line, " holds no statement"));
  if (lines[at].shared) return Misfit(StrCat("line ", edit.line, " holds several statements"));
  if (lines[at].clause) return Misfit(StrCat("line ", edit.line, " begins no statement of its own"));
  const std::string_view leaving = LeavingWord(lines[at].statement);
  if (edit.kind == EditKind::kAfter && !leaving.empty())
    return Misfit(StrCat("nothing runs behind the ", leaving, " of line ", edit.line));
  const size_t first = source_->FirstOf(at), past = source_->PastOf(at);
  const StatementEdit made{.kind = edit.kind,
                           .begin = lines[first].begin,
                           .end = lines[past - 1].end,
                           .indent = source_->IndentOf(lines[first]),
                           .lines = edit.lines};
  if ((edit.kind == EditKind::kAfter ? made.end : made.begin) < BehindFuture(*source_))
    return Misfit(StrCat("only `from __future__ import` may stand at line ", edit.line));
  if (IsReplaced(made)) return Misfit(StrCat("another change replaces line ", edit.line));
  GAPLESS_TRY(AddImports(edit, made.begin));
  const auto same_block = [&](const StatementEdit& statement_edit) {
    return statement_edit.kind == EditKind::kWith && made.kind == EditKind::kWith && statement_edit.begin == made.begin;
  };
  const auto block = std::ranges::find_if(statements_, same_block);
  if (block == statements_.end()) {
    if (std::ranges::find(statements_, made) == statements_.end()) statements_.push_back(made);
  } else if (std::ranges::find(block->lines, made.lines[0]) == block->lines.end()) {
    block->lines.push_back(made.lines[0]);
  }
  return {};
}

// A statement that is put somewhere, or goes into a block, is no longer there: a replacement takes it.
bool FileEditor::IsReplaced(const StatementEdit& edit) const {
  return std::ranges::any_of(settings_, [&](const Splice& splice) {
    if (splice.place != SplicePlace::kReplacement) return false;
    if (edit.kind == EditKind::kAfter) return splice.begin < edit.end && edit.end < splice.end;
    if (edit.kind == EditKind::kBefore) return splice.begin < edit.begin && edit.begin < splice.end;
    const bool around = edit.begin <= splice.begin && splice.end <= edit.end;
    return edit.begin < splice.end && splice.begin < edit.end && !around;
  });
}

// Replaces whole statements. The same replacement twice is one.
Result<void> FileEditor::AddReplacement(const Edit& edit) {
  if (edit.lines.empty()) return Misfit("the edit says nothing");
  GAPLESS_ASSIGN(const auto found, source_->StatementsAt(edit.line, edit.last));
  const LogicalLine& first = source_->lines()[found.first];
  const size_t end = source_->lines()[found.past - 1].end;
  if (first.begin < BehindFuture(*source_))
    return Misfit(StrCat("only `from __future__ import` may stand at line ", edit.line));
  std::string text = Render(*source_, edit.lines, source_->IndentOf(first), first.begin);
  if (end == source_->text().size() && !source_->ends_with_line_end())
    text.resize(text.size() - source_->line_end().size());
  const Splice splice{first.begin, end, std::move(text), SplicePlace::kReplacement, first.begin, end};
  const auto same = [&](const Splice& item) {
    return item.begin == splice.begin && item.end == splice.end && item.text == splice.text;
  };
  if (std::ranges::any_of(settings_, same)) return {};
  settings_.push_back(splice);
  if (Overlap(SplicesOfCalls()) ||
      std::ranges::any_of(statements_, [&](const StatementEdit& statement_edit) { return IsReplaced(statement_edit); }))
    return Misfit(StrCat("another change replaces line ", edit.line));
  return AddImports(edit, first.begin);
}

// An import must stand where it has run when `limit`, the beginning of a line, is reached.
Result<void> FileEditor::AddImports(const Edit& edit, size_t limit) {
  std::vector<std::string> added;
  for (const std::string& import : edit.imports) {
    const Bindings bindings = BindingsOf(import);
    if (const int line = DeletedAt(*source_, bindings, limit); line > 0)
      return Misfit(StrCat("line ", line, " deletes what the change imports"));
    if (ImportedBehind(*source_, bindings, limit) == 0) added.push_back(import);
  }
  if (!added.empty() && limit < TopOf(*source_))
    return Misfit(StrCat("nothing can be imported before line ", source_->LineOf(limit)));
  for (std::string& import : added)
    if (std::ranges::find(imports_, import) == imports_.end()) imports_.push_back(std::move(import));
  if (!added.empty()) before_ = std::min(before_, limit);
  return {};
}

// A program that sets the same thing itself would undo a line that comes before: its own statement changes then, if it
// does nothing else. Returns true if the line is not needed besides: the program's own statement runs in any case.
Result<bool> FileEditor::ReplaceSetting(const std::string& line, const Edit& edit) {
  const std::vector<Setting> found = SettingsLike(*source_, line);
  if (found.empty()) return false;
  const int first = source_->LineOf(found[0].place.begin());
  if (found.size() > 1)
    return Misfit(StrCat("lines ", first, " and ", source_->LineOf(found[1].place.begin()), " both set what it sets"));
  const PythonNode own = found[0].statement;
  if (!own) return Misfit(StrCat("line ", first, " sets what it sets, and does more than that"));
  if (source_->TextOf(own) == line) return !found[0].may_not_run;
  const LogicalLine& own_line = source_->lines()[source_->IndexAt(first)];
  const Splice splice{
      .begin = own.begin(), .end = own.end(), .text = line, .owner_begin = own_line.begin, .owner_end = own_line.end};
  const auto there = std::ranges::find(settings_, splice.begin, &Splice::begin);
  if (there == settings_.end()) {
    settings_.push_back(splice);
  } else {
    *there = splice;
  }
  if (Overlap(SplicesOfCalls())) return Misfit(StrCat("another change replaces line ", first));
  GAPLESS_TRY(AddImports(edit, own_line.begin));
  return !found[0].may_not_run;
}

Result<void> FileEditor::AddBehindImports(const Edit& edit) {
  std::vector<std::string> added;
  for (const std::string& line : edit.lines) {
    GAPLESS_ASSIGN(const auto replaced, ReplaceSetting(line, edit));
    if (!replaced && std::ranges::find(behind_imports_, line) == behind_imports_.end()) added.push_back(line);
  }
  if (added.empty()) return {};
  const size_t end = source_->text().size();
  size_t place = std::max(behind_, BehindImports(*source_, end));
  for (const std::string& import : edit.imports)
    place = std::max(place, ImportedBehind(*source_, BindingsOf(import), end));
  GAPLESS_TRY(AddImports(edit, place));
  behind_imports_.insert(behind_imports_.end(), added.begin(), added.end());
  behind_ = place;
  return {};
}

void FileEditor::AddImportSplices(std::vector<Splice>& splices) const {
  const size_t top = BehindImports(*source_, source_->text().size());
  const bool first = source_->lines().empty() || top <= source_->lines()[0].begin;
  if (!imports_.empty()) {
    const size_t place = BehindImports(*source_, before_);
    splices.push_back({place, place, Render(*source_, imports_, "", place), SplicePlace::kImport, 0, place});
  }
  if (behind_imports_.empty()) return;
  std::vector<std::string> lines = behind_imports_;
  // An empty line between imports and what follows.
  lines.insert(first && imports_.empty() ? lines.end() : lines.begin(), "");
  splices.push_back({behind_, behind_, Render(*source_, lines, "", behind_), SplicePlace::kAfterImports, 0, behind_});
}

std::vector<Splice> FileEditor::SplicesOfCalls() const {
  std::vector<Splice> splices = settings_;
  for (const CallEdit& call : calls_) {
    const auto found = SplicesFor(*source_, call.site, call.name, call.set);
    if (!found) continue;
    for (Splice splice : *found) {
      splice.owner_begin = call.site.name_begin;
      splice.owner_end = call.site.close + 1;
      splices.push_back(std::move(splice));
    }
  }
  return splices;
}

std::vector<Splice> FileEditor::Splices() const {
  std::vector<Splice> splices = SplicesOfCalls();
  for (const StatementEdit& edit : statements_) {
    if (edit.kind == EditKind::kWith) continue;
    const bool after = edit.kind == EditKind::kAfter;
    const size_t place = after ? edit.end : edit.begin;
    splices.push_back({place, place, Render(*source_, edit.lines, edit.indent, place),
                       after ? SplicePlace::kAfter : SplicePlace::kBefore, edit.begin, edit.end});
  }
  // Inner blocks first: an outer one moves what they put in.
  std::vector<StatementEdit> blocks;
  std::ranges::copy_if(statements_, std::back_inserter(blocks),
                       [](const StatementEdit& edit) { return edit.kind == EditKind::kWith; });
  std::ranges::stable_sort(blocks, std::ranges::greater(), &StatementEdit::begin);
  for (const StatementEdit& edit : blocks) AddWithBlock(*source_, edit, splices);
  AddImportSplices(splices);
  std::ranges::stable_sort(splices, Precedes);
  return splices;
}

Result<void> FileEditor::Check() const {
  const auto splices = Splices();
  GAPLESS_ASSIGN(const auto edited, PythonSource::Parse(Spliced(source_->text(), splices)));
  for (const CallEdit& call : calls_) {
    const auto site = CallAt(edited, PlaceInSpliced(call.site.name_begin, splices));
    if (!site || !HasArguments(edited, *site, call.site, call.set))
      return Misfit(StrCat("the call of ", call.name, " would get other arguments"));
  }
  return {};
}

}  // namespace gapless::internal
