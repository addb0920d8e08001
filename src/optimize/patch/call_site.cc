// SPDX-License-Identifier: Apache-2.0
// Finds a call in a Python statement and splits its arguments.
//
// A call is a name followed by an opening bracket, in code and not in strings or comments; "def name(" and "class
// name(" do not count. Arguments are split at commas outside of inner brackets. Example: `DataLoader(set, *more,
// pin_memory=f(a, b))` has three arguments, the last with the name pin_memory. No expression is evaluated.
#include "optimize/patch/call_site.h"

#include <algorithm>

#include "base/strings.h"
#include "optimize/patch/imports.h"

namespace gapless::internal {
namespace {

bool IsSpaceOrLineEnd(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f'; }

// Returns the next byte of a logical line that is neither white space nor comment nor a backslash before a line end.
size_t NextCode(const PythonSource& source, size_t at, size_t end) {
  while (at < end && (source.KindAt(at) == ByteKind::kComment || IsSpaceOrLineEnd(source.text()[at]) ||
                      (source.IsCode(at) && source.text()[at] == '\\')))
    ++at;
  return at;
}

// One past the last such byte in [begin, end).
size_t LastCode(const PythonSource& source, size_t begin, size_t end) {
  while (end > begin &&
         (source.KindAt(end - 1) == ByteKind::kComment ||
          (source.IsCode(end - 1) && (IsSpaceOrLineEnd(source.text()[end - 1]) || source.text()[end - 1] == '\\'))))
    --end;
  return end;
}

std::string_view WordAt(const PythonSource& source, size_t at, size_t end) {
  size_t past = at;
  while (past < end && source.IsCode(past) && IsNameByte(source.text()[past])) ++past;
  return source.text().substr(at, past - at);
}

std::string_view WordBefore(const PythonSource& source, size_t at, size_t begin) {
  while (at > begin && IsSpaceOrLineEnd(source.text()[at - 1])) --at;
  const size_t end = at;
  while (at > begin && source.IsCode(at - 1) && IsNameByte(source.text()[at - 1])) --at;
  return source.text().substr(at, end - at);
}

// Describes the argument in [begin, end): its stars, its name, where its value begins, and whether it is a
// generator expression, which needs brackets when another argument joins it.
Argument MakeArgument(const PythonSource& source, size_t begin, size_t end) {
  Argument argument{.begin = begin, .end = end, .value_begin = begin};
  const std::string_view text = source.text();
  while (argument.stars < 2 && text[begin] == '*' && source.IsCode(begin) && begin < end) ++argument.stars, ++begin;
  argument.value_begin = NextCode(source, begin, end);
  const std::string_view word = WordAt(source, begin, end);
  const size_t sign = NextCode(source, begin + word.size(), end);
  if (!word.empty() && sign + 1 < end && text[sign] == '=' && text[sign + 1] != '=' && source.IsCode(sign)) {
    argument.name = word;
    argument.value_begin = NextCode(source, sign + 1, end);
  }
  int depth = 0;
  for (size_t i = argument.value_begin; i < end; ++i) {
    if (!source.IsCode(i)) continue;
    depth += text[i] == '(' || text[i] == '[' || text[i] == '{' ? 1 : 0;
    depth -= text[i] == ')' || text[i] == ']' || text[i] == '}' ? 1 : 0;
    const bool starts = IsNameByte(text[i]) && (i == 0 || !source.IsCode(i - 1) || !IsNameByte(text[i - 1]));
    if (depth == 0 && starts && WordAt(source, i, end) == "for") argument.generator = true;
  }
  return argument;
}

// Fills in the arguments and the closing bracket of the call whose bracket opens at `open`.
void ReadArguments(const PythonSource& source, size_t end, CallSite& call) {
  int depth = 0;
  size_t begin = call.open + 1;
  for (size_t i = call.open + 1; i < end; ++i) {
    if (!source.IsCode(i)) continue;
    const char c = source.text()[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    const bool closes = c == ')' || c == ']' || c == '}';
    if (depth == 0 && (c == ',' || closes)) {
      const size_t first = NextCode(source, begin, i), last = LastCode(source, first, i);
      if (first < last) {
        call.arguments.push_back(MakeArgument(source, first, last));
        call.last_comma.reset();
      }
      if (c == ',') call.last_comma = i;
      begin = i + 1;
      call.close = i;
      if (closes) return;
    }
    if (closes) --depth;
  }
}

std::vector<CallSite> CallsOf(const PythonSource& source, const LogicalLine& line, std::string_view name) {
  std::vector<CallSite> found;
  for (size_t at = line.code_begin; at < line.code_end;) {
    const std::string_view word = WordAt(source, at, line.code_end);
    const size_t past = at + std::max<size_t>(word.size(), 1);
    if (word == name) {
      const size_t open = NextCode(source, past, line.code_end);
      const std::string_view before = WordBefore(source, at, line.code_begin);
      if (open < line.code_end && source.IsCode(open) && source.text()[open] == '(' && before != "def" &&
          before != "class") {
        CallSite call{.name_begin = at, .open = open};
        ReadArguments(source, line.code_end, call);
        found.push_back(std::move(call));
      }
    }
    at = past;
  }
  return found;
}

// Returns the calls of a statement that this line of the file belongs to, preferably those that begin on it.
// Python reports different lines for a call by version: that of the name, or any line that the call spans.
std::vector<CallSite> At(const PythonSource& source, int line, const std::vector<CallSite>& calls) {
  std::vector<CallSite> on, within;
  for (const CallSite& call : calls) {
    if (source.LineOf(call.name_begin) == line) on.push_back(call);
    if (source.LineOf(call.name_begin) <= line && line <= source.LineOf(call.close)) within.push_back(call);
  }
  if (!on.empty()) return on;
  return within.empty() ? calls : within;
}

}  // namespace

Result<CallSite> FindCall(const PythonSource& source, std::string_view name, int line) {
  const size_t index = source.IndexAt(line);
  if (index >= source.lines().size() || name.empty())
    return Fail(ErrorCode::kInput, StrCat("line ", line, " holds no statement"));
  std::vector<CallSite> calls = CallsOf(source, source.lines()[index], name);
  for (const std::string& other : AliasesOf(source, name))
    for (CallSite& call : CallsOf(source, source.lines()[index], other)) calls.push_back(std::move(call));
  if (calls.size() > 1) calls = At(source, line, calls);
  if (calls.empty()) return Fail(ErrorCode::kInput, StrCat("line ", line, " holds no call of ", name));
  if (calls.size() > 1)
    return Fail(ErrorCode::kInput, StrCat("line ", line, " holds ", calls.size(), " calls of ", name));
  return std::move(calls.front());
}

// The order is that of the signatures in PyTorch.
std::vector<std::string_view> PositionalNames(std::string_view call) {
  if (call == "DataLoader")
    return {"dataset",    "batch_size", "shuffle",   "sampler", "batch_sampler",  "num_workers",
            "collate_fn", "pin_memory", "drop_last", "timeout", "worker_init_fn", "multiprocessing_context",
            "generator"};
  if (call == "DistributedDataParallel") return {"module", "device_ids", "output_device", "dim", "broadcast_buffers"};
  if (call == "zero_grad") return {"set_to_none"};
  if (call == "set_num_threads") return {"int"};
  if (call == "set_detect_anomaly") return {"mode", "check_nan"};
  return {};
}

}  // namespace gapless::internal
