// SPDX-License-Identifier: Apache-2.0
// Writes splices of a file as a unified diff with three lines of context.
//
// The splices say what changes, so no longest common subsequence is needed: splices on the same or adjacent lines
// form a group of old lines with their new text, and groups within six lines of each other form a hunk. Linear in
// the file.
#include "optimize/patch/unified_diff.h"

#include <algorithm>
#include <span>

#include "base/strings.h"
#include "optimize/patch/splice.h"

namespace gapless::internal {
namespace {

constexpr size_t kContext = 3;

using Lines = std::vector<std::string_view>;  // with their ends

Lines LinesOf(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

// Old lines [first, past) become `text`.
struct Group {
  size_t first = 0, past = 0;
  std::string text{};
};

class Differ {
 public:
  Differ(std::string_view text, const std::vector<Splice>& splices) : text_(text), old_(LinesOf(text)) {
    size_t at = 0;
    for (const std::string_view line : old_) starts_.push_back(at), at += line.size();
    starts_.push_back(at);
    for (const Splice& splice : splices) Take(splice);
    Close();
  }

  std::string Hunks() const {
    std::string out;
    int64_t shift = 0;
    for (size_t i = 0; i < groups_.size();) {
      size_t past = i + 1;
      while (past < groups_.size() && groups_[past].first - groups_[past - 1].past <= 2 * kContext) ++past;
      out += Hunk(std::span(groups_).subspan(i, past - i), shift);
      i = past;
    }
    return out;
  }

 private:
  size_t LineAt(size_t offset) const {
    return static_cast<size_t>(std::ranges::upper_bound(starts_, offset) - starts_.begin()) - 1;
  }

  // Adds a splice to the open group, or begins another one. Whole lines that are inserted at the start of a line
  // take no old line into the group.
  void Take(const Splice& splice) {
    const bool at_start = splice.begin == splice.end && splice.begin == starts_[LineAt(splice.begin)] &&
                          (splice.text.empty() || splice.text.back() == '\n');
    Group range{.first = std::min(LineAt(splice.begin), old_.size())};
    range.past = at_start ? range.first : LineAt(std::max(splice.begin, splice.end - (splice.end > splice.begin))) + 1;
    // Behind a last line without an end.
    if (!at_start && range.first == old_.size() && range.first > 0) --range.first;
    range.past = std::min(range.past, old_.size());
    if (!pending_.empty() && range.first > open_.past) Close();
    if (pending_.empty()) open_ = range;
    open_.first = std::min(open_.first, range.first);
    open_.past = std::max(open_.past, range.past);
    pending_.push_back(splice);
  }

  void Close() {
    if (pending_.empty()) return;
    const size_t begin = starts_[open_.first], end = starts_[open_.past];
    for (Splice& splice : pending_) splice.begin -= begin, splice.end -= begin;
    open_.text = Spliced(text_.substr(begin, end - begin), pending_);
    pending_.clear();
    Trim(open_);
    if (open_.first < open_.past || !open_.text.empty()) groups_.push_back(open_);
  }

  // Equal lines at both ends are not part of the change.
  void Trim(Group& group) const {
    std::string_view text = group.text;
    while (group.first < group.past && text.starts_with(old_[group.first]) && old_[group.first].ends_with('\n'))
      text.remove_prefix(old_[group.first++].size());
    const auto ends_with_line = [&](std::string_view line) {
      if (!line.ends_with('\n') || !text.ends_with(line)) return false;
      return text.size() == line.size() || text[text.size() - line.size() - 1] == '\n';
    };
    while (group.first < group.past && ends_with_line(old_[group.past - 1]))
      text.remove_suffix(old_[--group.past].size());
    group.text = std::string(text);
  }

  static void Write(std::string& out, char sign, std::string_view line) {
    out += sign;
    out += line;
    if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
  }

  std::string Hunk(std::span<const Group> groups, int64_t& shift) const {
    const size_t first = groups.front().first - std::min(groups.front().first, kContext);
    const size_t past = std::min(groups.back().past + kContext, old_.size());
    std::string body;
    size_t at = first, added = 0, removed = 0;
    for (const Group& group : groups) {
      for (; at < group.first; ++at) Write(body, ' ', old_[at]);
      for (; at < group.past; ++at, ++removed) Write(body, '-', old_[at]);
      for (const std::string_view line : LinesOf(group.text)) Write(body, '+', line), ++added;
    }
    for (; at < past; ++at) Write(body, ' ', old_[at]);
    const size_t count = past - first, new_count = count - removed + added;
    const auto start = [&](size_t lines) { return first + (lines > 0 ? 1 : 0); };
    const auto new_start = static_cast<int64_t>(start(new_count)) + shift;
    shift += static_cast<int64_t>(added) - static_cast<int64_t>(removed);
    return StrCat("@@ -", start(count), ",", count, " +", new_start, ",", new_count, " @@\n", body);
  }

  std::string_view text_;
  Lines old_;
  std::vector<size_t> starts_;  // offsets at which the old lines start, and the end
  Group open_;
  std::vector<Splice> pending_;
  std::vector<Group> groups_;
};

// Returns the name for a header line, quoted as git does where it has control characters, quotes or backslashes.
std::string FileName(std::string_view side, std::string_view path, std::string_view end_of_spaced = "\t") {
  std::string quoted;
  bool unusual = false;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += StrCat('\\', c);
    } else if (byte < 0x20 || byte == 0x7F) {
      for (const char digit :
           {char('\\'), char('0' + (byte >> 6)), char('0' + ((byte >> 3) & 7)), char('0' + (byte & 7))})
        quoted += digit;
    } else {
      quoted += c;
      continue;
    }
    unusual = true;
  }
  if (unusual) return StrCat("\"", side, "/", quoted, "\"");
  // Behind a tab comes the time of the file: so a name with spaces has an end.
  return StrCat(side, "/", path, path.find(' ') == std::string_view::npos ? "" : end_of_spaced);
}

}  // namespace

std::string UnifiedDiff(std::string_view path, std::string_view text, const std::vector<Splice>& splices) {
  const std::string hunks = Differ(text, splices).Hunks();
  if (hunks.empty()) return "";
  return StrCat("diff --git ", FileName("a", path, ""), " ", FileName("b", path, ""), "\n--- ", FileName("a", path),
                "\n+++ ", FileName("b", path), "\n", hunks);
}

}  // namespace gapless::internal
