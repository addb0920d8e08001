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

#include "base/strings.h"
#include "optimize/patch/imports.h"

namespace gapless::internal {
namespace {

constexpr size_t kPythonIndent = 4;  // indent of lines that the agent gives

// Returns true if the text cannot break out of its line: no control characters but tabs.
bool IsOneLine(std::string_view text) {
  return std::ranges::none_of(text, [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7F; });
}

bool IsName(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsNameByte) && (text[0] < '0' || text[0] > '9');
}

Unexpected Misfit(std::string_view why) { return Fail(ErrorCode::kInput, std::string(why)); }

// Each line of the text one level deeper; of one that begins within a line, those behind the first.
void Indent(Splice& splice, std::string_view unit) {
  std::string out;
  bool at_start = splice.whole_lines();
  for (const char c : splice.text) {
    if (at_start && c != '\n' && c != '\r') out += unit;
    at_start = c == '\n';
    out += c;
  }
  splice.text = std::move(out);
}

// Behind one another at the same place: what stands behind inner statements first, what stands before outer ones first.
bool Precedes(const Splice& a, const Splice& b) {
  if (a.begin != b.begin) return a.begin < b.begin;
  if (a.place != b.place) return a.place < b.place;
  if (a.place == SplicePlace::kAfter) return a.owner_begin > b.owner_begin;
  if (a.place == SplicePlace::kBefore) return a.owner_end > b.owner_end;
  return a.end < b.end;
}

// Returns true if two splices replace the same bytes.
bool Overlap(std::vector<Splice> splices) {
  std::ranges::stable_sort(splices, Precedes);
  size_t at = 0;
  for (const Splice& splice : splices) {
    if (splice.begin < at) return true;
    at = std::max(at, splice.end);
  }
  return false;
}

// Returns the target of a statement: "torch.set_num_threads" of a call, "torch.backends.cudnn.benchmark" of an
// assignment; empty for any other statement. Sets `sign` to '(' or '='.
std::string_view Target(std::string_view code, char& sign) {
  const size_t end = code.find_first_of("(=,:;#'\"");
  if (end == std::string_view::npos || (code[end] != '(' && code[end] != '=') || code.substr(end).starts_with("=="))
    return {};
  sign = code[end];
  std::string_view target = code.substr(0, end);
  while (target.ends_with(' ')) target.remove_suffix(1);
  const bool plain = std::ranges::all_of(target, [](char c) { return IsNameByte(c) || c == '.'; });
  return plain ? target : std::string_view();
}

// A name that is long enough to mean the same wherever it comes from, `set_num_threads`, or the end of one.
std::string_view Telling(std::string_view target, char sign) {
  const size_t last = target.rfind('.');
  if (last == std::string_view::npos) return target;
  if (sign == '(')
    return target.substr(last + 1).find('_') == std::string_view::npos ? target : target.substr(last + 1);
  const size_t before = target.rfind('.', last - (last > 0));
  return before == std::string_view::npos || last == 0 ? target : target.substr(before + 1);
}

// Returns true if two statements call or assign the same thing, whatever value they give it.
bool SetsTheSame(std::string_view code, std::string_view line) {
  char sign = 0, other = 0;
  const std::string_view a = Target(code, sign), b = Target(line, other);
  return !a.empty() && !b.empty() && sign == other && Telling(a, sign) == Telling(b, other);
}

// The words behind which nothing of a block runs.
bool Leaves(std::string_view keyword) {
  return keyword == "return" || keyword == "raise" || keyword == "break" || keyword == "continue";
}

}  // namespace

// Edits come from the process that trained, so their texts are checked before anything else: single lines, proper
// names, imports that are imports.
Result<void> FileEditor::Add(const Edit& edit) {
  const bool plain = std::ranges::all_of(edit.lines, IsOneLine) && std::ranges::all_of(edit.imports, IsOneLine) &&
                     std::ranges::all_of(edit.set, [](const auto& pair) {
                       return IsName(pair.first) && !pair.second.empty() && IsOneLine(pair.second);
                     });
  if (!plain) return Misfit("the edit holds what no line of Python does");
  for (const std::string& import : edit.imports)
    if (BindingsOf(import).empty()) return Misfit(StrCat("'", Printable(import), "' is no import"));
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

// Joins the keywords with those that the call has got before; a later value wins. Taken back if the call's new
// text overlaps another change.
Result<void> FileEditor::AddKeywords(const Edit& edit) {
  if (edit.set.empty()) return Misfit("the edit says nothing");
  auto site = FindCall(source_, edit.call, edit.line);
  if (!site) return Unexpected{site.error()};
  const auto same = [&](const CallEdit& call_edit) { return call_edit.site.name_begin == site->name_begin; };
  auto found = std::ranges::find_if(calls_, same);
  const bool known = found != calls_.end();
  CallEdit merged = known ? *found : CallEdit{.site = *site, .name = edit.call, .set = {}};
  for (const auto& [key, value] : edit.set) {
    const auto there = std::ranges::find(merged.set, key, &Keywords::value_type::first);
    if (there == merged.set.end()) {
      merged.set.emplace_back(key, value);
    } else {
      there->second = value;
    }
  }
  const auto splices = SplicesFor(source_, merged.site, merged.name, merged.set);
  if (!splices) return Unexpected{splices.error()};
  const std::vector<CallEdit> before = calls_;
  if (known) {
    *found = std::move(merged);
  } else {
    calls_.push_back(std::move(merged));
  }
  if (Overlap(SplicesOfCalls())) {
    calls_ = before;
    return Misfit(StrCat("another change replaces line ", edit.line));
  }
  AddImports(edit, source_.lines()[source_.IndexAt(edit.line)].begin);
  return {};
}

// Puts lines before, behind or around a statement. Nothing can be put between the clauses of a statement, or
// before `from __future__ import`, which must be first.
Result<void> FileEditor::AddStatement(const Edit& edit) {
  if (edit.lines.empty()) return Misfit("the edit says nothing");
  const auto& lines = source_.lines();
  const size_t at = source_.IndexAt(edit.line);
  if (at >= lines.size()) return Misfit(StrCat("line ", edit.line, " holds no statement"));
  if (lines[at].shared) return Misfit(StrCat("line ", edit.line, " holds several statements"));
  if (source_.IsClause(at)) return Misfit(StrCat("line ", edit.line, " begins no statement of its own"));
  if (edit.kind == EditKind::kAfter && Leaves(lines[at].keyword))
    return Misfit(StrCat("nothing runs behind the ", lines[at].keyword, " of line ", edit.line));
  if (edit.kind == EditKind::kWith &&
      (edit.lines.size() != 1 || !edit.lines[0].starts_with("with ") || !edit.lines[0].ends_with(':')))
    return Misfit("the edit has no head of a with block");
  const size_t first = source_.FirstOf(at), past = source_.PastOf(at);
  const StatementEdit made{.kind = edit.kind,
                           .begin = lines[first].begin,
                           .end = lines[past - 1].end,
                           .indent = source_.IndentOf(lines[first]),
                           .lines = edit.lines};
  if ((edit.kind == EditKind::kAfter ? made.end : made.begin) < BehindFuture())
    return Misfit(StrCat("only `from __future__ import` may stand at line ", edit.line));
  if (IsReplaced(made)) return Misfit(StrCat("another change replaces line ", edit.line));
  AddImports(edit, made.begin);
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
  const auto found = source_.StatementsAt(edit.line, edit.last);
  if (!found) return Unexpected{found.error()};
  const LogicalLine& first = source_.lines()[found->first];
  const size_t end = source_.lines()[found->past - 1].end;
  if (first.begin < BehindFuture())
    return Misfit(StrCat("only `from __future__ import` may stand at line ", edit.line));
  std::string text = Render(edit.lines, source_.IndentOf(first), first.begin);
  if (end == source_.text().size() && !source_.ends_with_line_end())
    text.resize(text.size() - source_.line_end().size());
  const Splice splice{first.begin, end, std::move(text), SplicePlace::kReplacement, first.begin, end};
  const auto same = [&](const Splice& item) {
    return item.begin == splice.begin && item.end == splice.end && item.text == splice.text;
  };
  if (std::ranges::any_of(settings_, same)) return {};
  settings_.push_back(splice);
  if (Overlap(SplicesOfCalls()) || std::ranges::any_of(statements_, [&](const StatementEdit& statement_edit) {
        return IsReplaced(statement_edit);
      })) {
    settings_.pop_back();
    return Misfit(StrCat("another change replaces line ", edit.line));
  }
  AddImports(edit, first.begin);
  return {};
}

// Returns the offset behind the last `from __future__ import`; 0 without one.
size_t FileEditor::BehindFuture() const {
  size_t behind = 0;
  for (const LogicalLine& line : source_.lines()) {
    const auto bindings = line.keyword == "from" ? BindingsOf(source_.CodeOf(line)) : std::vector<Binding>();
    if (!bindings.empty() && bindings[0].module == "__future__") behind = line.end;
  }
  return behind;
}

void FileEditor::AddImports(const Edit& edit, size_t limit) {
  for (const std::string& import : edit.imports)
    if (ImportedBehind(source_, import, limit) == 0 && std::ranges::find(imports_, import) == imports_.end())
      imports_.push_back(import);
}

// A program that sets the same thing itself would undo a line that comes before: its own line changes then. True: it
// did, or says so already.
Result<bool> FileEditor::ReplaceSetting(const std::string& line, const Edit& edit) {
  std::vector<const LogicalLine*> found;
  for (const LogicalLine& logical_line : source_.lines())
    if (!logical_line.opens_block && !logical_line.shared && SetsTheSame(source_.CodeOf(logical_line), line))
      found.push_back(&logical_line);
  if (found.empty()) return false;
  if (found.size() > 1)
    return Misfit(StrCat("lines ", found[0]->first, " and ", found[1]->first, " both set what it sets"));
  const LogicalLine& own = *found[0];
  if (source_.CodeOf(own) == line) return true;
  const Splice splice{
      .begin = own.code_begin, .end = own.code_end, .text = line, .owner_begin = own.begin, .owner_end = own.end};
  const auto there = std::ranges::find(settings_, splice.begin, &Splice::begin);
  const std::vector<Splice> before = settings_;
  if (there == settings_.end()) {
    settings_.push_back(splice);
  } else {
    *there = splice;
  }
  if (Overlap(SplicesOfCalls())) {
    settings_ = before;
    return Misfit(StrCat("another change replaces line ", own.first));
  }
  AddImports(edit, own.begin);
  return true;
}

Result<void> FileEditor::AddBehindImports(const Edit& edit) {
  std::vector<std::string> added;
  for (const std::string& line : edit.lines) {
    const auto replaced = ReplaceSetting(line, edit);
    if (!replaced) return Unexpected{replaced.error()};
    if (!*replaced && std::ranges::find(behind_imports_, line) == behind_imports_.end()) added.push_back(line);
  }
  if (added.empty()) return {};
  behind_imports_.insert(behind_imports_.end(), added.begin(), added.end());
  behind_ = std::max(behind_, BehindImports(source_));
  for (const std::string& import : edit.imports) {
    const size_t behind = ImportedBehind(source_, import, source_.text().size());
    behind_ = std::max(behind_, behind);
    if (behind == 0 && std::ranges::find(imports_, import) == imports_.end()) imports_.push_back(import);
  }
  return {};
}

// Lines at `place`, indented; their own indentation in levels of four becomes that of the file.
std::string FileEditor::Render(const std::vector<std::string>& lines, std::string_view indent, size_t place) const {
  const std::string end(source_.line_end());
  std::string out;
  for (std::string_view line : lines) {
    std::string own;
    for (; line.starts_with(std::string(kPythonIndent, ' ')); line.remove_prefix(kPythonIndent))
      own += source_.indent_unit();
    out += line.empty() ? end : StrCat(indent, own, line, end);
  }
  // The file stays without an end of its last line.
  if (place == source_.text().size() && !source_.ends_with_line_end())
    return StrCat(end, out.substr(0, out.size() - end.size()));
  return out;
}

// The heads of the blocks, and all of the statement deeper: its lines, and what else is put into it.
void FileEditor::AddWithBlock(const StatementEdit& edit, std::vector<Splice>& splices) const {
  std::string unit, heads;
  for (const std::string& head : edit.lines) {
    heads += StrCat(edit.indent, unit, head, source_.line_end());
    unit += source_.indent_unit();
  }
  for (Splice& splice : splices) {
    const bool inside = splice.owner_begin >= edit.begin && splice.owner_end <= edit.end;
    const bool beside =
        splice.owner_begin == edit.begin && splice.owner_end == edit.end && splice.place <= SplicePlace::kBefore;
    if (inside && !beside && splice.place != SplicePlace::kIndentation) Indent(splice, unit);
  }
  splices.push_back({edit.begin, edit.begin, heads, SplicePlace::kBefore, edit.begin, edit.end});
  for (int line = source_.LineOf(edit.begin); line <= source_.LineCount(); ++line) {
    const size_t start = std::max(edit.begin, source_.StartOf(line));
    if (start >= edit.end) break;
    const size_t text = source_.text().find_first_not_of(" \t\r", start);
    const bool blank = text == std::string_view::npos || source_.text()[text] == '\n';
    const bool in_string = start > 0 && source_.KindAt(start - 1) == ByteKind::kString;
    if (!blank && !in_string) splices.push_back({start, start, unit, SplicePlace::kIndentation, edit.begin, edit.end});
  }
}

void FileEditor::AddImportSplices(std::vector<Splice>& splices) const {
  const size_t top = BehindImports(source_);
  const bool first = source_.lines().empty() || top <= source_.lines()[0].begin;
  if (!imports_.empty()) splices.push_back({top, top, Render(imports_, "", top), SplicePlace::kImport, 0, top});
  if (behind_imports_.empty()) return;
  std::vector<std::string> lines = behind_imports_;
  // An empty line between imports and what follows.
  lines.insert(first && imports_.empty() ? lines.end() : lines.begin(), "");
  splices.push_back({behind_, behind_, Render(lines, "", behind_), SplicePlace::kAfterImports, 0, behind_});
}

std::vector<Splice> FileEditor::SplicesOfCalls() const {
  std::vector<Splice> splices = settings_;
  for (const CallEdit& call : calls_) {
    const auto found = SplicesFor(source_, call.site, call.name, call.set);
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
    splices.push_back({place, place, Render(edit.lines, edit.indent, place),
                       after ? SplicePlace::kAfter : SplicePlace::kBefore, edit.begin, edit.end});
  }
  // Inner blocks first: an outer one moves what they put in.
  std::vector<StatementEdit> blocks;
  std::ranges::copy_if(statements_, std::back_inserter(blocks),
                       [](const StatementEdit& edit) { return edit.kind == EditKind::kWith; });
  std::ranges::stable_sort(blocks, std::ranges::greater(), &StatementEdit::begin);
  for (const StatementEdit& edit : blocks) AddWithBlock(edit, splices);
  AddImportSplices(splices);
  std::ranges::stable_sort(splices, Precedes);
  return splices;
}

std::string Spliced(std::string_view text, const std::vector<Splice>& splices) {
  std::string out;
  size_t at = 0;
  for (const Splice& splice : splices) {
    if (splice.begin < at) continue;  // indentation within what is replaced
    out += text.substr(at, splice.begin - at);
    out += splice.text;
    at = splice.end;
  }
  out += text.substr(at);
  return out;
}

}  // namespace gapless::internal
