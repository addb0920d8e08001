// SPDX-License-Identifier: Apache-2.0
// Finds the unknown table or column in SQLite's message, and suggests similar names.
//
// SQLite reports a name without saying where it was meant to be, so the tables in question are all those whose name is
// a word of the statement. A word in a text literal or a comment counts, too: the hint is then longer than it need be.
#include "query/sql_hint.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/strings.h"
#include "base/suggest.h"
#include "query/database.h"

namespace gapless::internal {
namespace {

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Returns the distinct words of the statement, as they are written.
std::set<std::string, std::less<>> WordsOf(std::string_view sql) {
  std::set<std::string, std::less<>> words;
  for (size_t i = 0; i < sql.size();) {
    size_t end = i;
    while (end < sql.size() && IsWordCharacter(sql[end])) ++end;
    if (end > i) words.emplace(sql.substr(i, end - i));
    i = end + 1;
  }
  return words;
}

// Returns the name after `prefix` in the message, without a table name before a dot; "" for another message.
std::string_view NameAfter(std::string_view message, std::string_view prefix) {
  const size_t at = message.find(prefix);
  if (at == std::string_view::npos) return {};
  std::string_view name = message.substr(at + prefix.size());
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

// Suggests the nearest table, and always names the command that lists them.
std::string HintForTable(std::string_view name) {
  std::vector<std::string_view> names;
  for (const SqlTableInfo& table : DescribeSqlTables()) names.push_back(table.name);
  const std::string_view nearest = Nearest(name, names);
  if (nearest.empty()) return "`gapless query --tables` lists the tables";
  return StrCat("did you mean ", nearest, "? `gapless query --tables` lists the tables");
}

// Suggests the nearest column of the tables in the statement, and lists all of their columns.
std::string HintForColumn(std::string_view name, std::string_view sql) {
  const auto words = WordsOf(sql);
  std::vector<std::string_view> columns;
  std::string tables;
  const auto all = DescribeSqlTables();
  for (const SqlTableInfo& table : all) {
    if (!words.contains(table.name) && !words.contains(StrCat("all_", table.name))) continue;
    for (const ColumnSpec& column : table.columns) columns.push_back(column.name);
    tables += StrCat(tables.empty() ? "" : "; ", table.name, " has ");
    for (size_t i = 0; i < table.columns.size(); ++i) tables += StrCat(i == 0 ? "" : ", ", table.columns[i].name);
  }
  const std::string_view nearest = Nearest(name, columns);
  if (nearest.empty()) return tables;
  return StrCat("did you mean ", nearest, "? ", tables);
}

}  // namespace

std::string HintForSql(std::string_view message, std::string_view sql) {
  if (const auto table = NameAfter(message, "no such table: "); !table.empty()) return HintForTable(table);
  if (const auto column = NameAfter(message, "no such column: "); !column.empty()) return HintForColumn(column, sql);
  return {};
}

}  // namespace gapless::internal
