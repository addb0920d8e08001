// SPDX-License-Identifier: Apache-2.0
// Interns the texts of events in a shard, and gives numbers to the processes and threads that are named by texts.
//
// The functions stand in the header because they run several times for each event.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ingest/readers/kineto/fields.h"
#include "ingest/readers/kineto/frames.h"
#include "ingest/readers/kineto/lanes.h"

namespace gapless::internal::kineto {

// An EventTexts object belongs to one shard and one thread.
class EventTexts {
 public:
  explicit EventTexts(TraceBuilder::Shard& shard) : shard_(shard) {}

  // Escapes are rare, so only texts with a backslash are copied.
  StringId Text(std::string_view token) {
    const std::string_view text = TokenText(token);
    if (text.find('\\') == std::string_view::npos) return shard_.Text(text);
    return shard_.Text(Unescape(text));
  }

  // The same of the name of an event, which is shortened if it is very long.
  StringId Name(std::string_view token) {
    const std::string_view text = TokenText(token);
    if (text.size() <= TraceBuilder::Shard::kMaxNameBytes) return Text(token);
    ++long_names_;
    return shard_.Name(text.find('\\') == std::string_view::npos ? std::string(text) : Unescape(text));
  }

  StringId Shapes(std::string_view json) {
    if (json.empty() || json == "[]" || json == "\"\"") return StringId::kNone;
    if (json.find('\n') == std::string_view::npos) return shard_.Text(json);
    std::string compact;
    for (const char c : json)
      if (c != '\n' && c != '\r' && c != ' ' && c != '\t') compact += c;
    return shard_.Text(compact);
  }

  // Finds the user's line once per distinct stack: the same stack repeats for every operator of a step.
  StringId StackLine(std::string_view token) {
    const std::string_view stack = TokenText(token);
    if (stack.empty()) return StringId::kNone;
    const auto id = static_cast<uint32_t>(stacks_.Intern(stack));
    if (id < stack_lines_.size()) return stack_lines_[id];
    stack_lines_.resize(id + 1);
    return stack_lines_[id] = shard_.Text(UserLine(Unescape(stack)));
  }

  void ForgetStackLines() {
    if (!stack_lines_.empty()) shard_.ForgetSourceLines(SliceCategory::kPython, stack_lines_);
  }

  // A process named by a text gets a stand-in number, and the text as its name.
  int64_t ProcessOf(std::string_view token) {
    const int64_t number = TokenInt(token);
    if (number != kAbsent || token.empty()) return number == kAbsent ? 0 : number;
    const int64_t stand_in = StandIn(token);
    process_names_.try_emplace(stand_in, Unescape(TokenText(token)));
    return stand_in;
  }

  int64_t ThreadOf(std::string_view token) {
    const int64_t number = TokenInt(token);
    if (number != kAbsent) return number;
    return token.empty() ? 0 : StandIn(token);
  }

  // Keeps the name that a metadata event gives a process or one of its threads.
  void NameThread(const EventFields& event, const std::string& name) {
    thread_names_[{ProcessOf(event.pid), ThreadOf(event.tid)}] = name;
  }
  void NameProcess(const EventFields& event, const std::string& name) { process_names_[ProcessOf(event.pid)] = name; }
  void NameLanes(Lanes& lanes) const {
    for (const auto& [pid, name] : process_names_) lanes.NameProcess(pid, name);
    for (const auto& [key, name] : thread_names_) lanes.NameThread(key.first, key.second, name);
  }
  void Finish(TraceBuilder& builder) const {
    for (const auto& [key, name] : thread_names_) builder.NameThread(key.first, key.second, name);
    for (const auto& [pid, name] : process_names_) builder.NameProcess(pid, name);
    if (long_names_ > 0)
      builder.Count("long_names", Severity::kInfo, long_names_, kAbsent, "names longer than 16 KiB were shortened");
  }

 private:
  TraceBuilder::Shard& shard_;
  int64_t long_names_ = 0;             // events with a name that was shortened
  StringPool stacks_;                  // recorded stacks, and places of calls
  std::vector<StringId> stack_lines_;  // by id in stacks_
  std::map<std::pair<int64_t, int64_t>, std::string> thread_names_;
  std::map<int64_t, std::string> process_names_;
};

}  // namespace gapless::internal::kineto
