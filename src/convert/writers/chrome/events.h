// SPDX-License-Identifier: Apache-2.0
// Events of a Chrome trace, one after the other, into a sink. Text is gathered in one block that is passed on when it
// is full; a recording has millions of events, so no event allocates memory.
//
//   out.Begin(Kind::kSlice, 'X', "cpu_op").Name(id).At(place, ts_ns).Dur(dur_ns).Arg("External id", 3).End();
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/json_check.h"
#include "convert/sink.h"
#include "trace/ids.h"
#include "trace/string_pool.h"

namespace gapless::internal::chrome {

// A cache of the texts of one trace, so that each is examined once and not at every event that carries it.
class TextCache {
 public:
  explicit TextCache(const StringPool& pool) : pool_(pool), known_(pool.size()) {}

  // Appends the text as a JSON string.
  void AppendString(std::string& out, StringId id);
  // Appends a text that is valid JSON as it is, and any other text as a string.
  void AppendJson(std::string& out, StringId id);

 private:
  enum Known : uint8_t { kPlain = 1, kEscape = 2, kJson = 4, kNoJson = 8 };

  const StringPool& pool_;
  std::vector<uint8_t> known_;
  JsonCheck check_;
};

// May the text stand between quotes as it is: printable ASCII without quotes and backslashes?
bool IsPlain(std::string_view text);

// The purpose of an event, by which it is counted.
enum class Kind : uint8_t {
  kSlice,
  kGpuOp,
  kGpuAnnotation,
  kSync,
  kFlow,
  kCounter,
  kMemoryEvent,
  kAnnotation,
  kMetadata,
  kCount
};
inline constexpr std::array<std::string_view, static_cast<size_t>(Kind::kCount)> kKindNames = {
    "slice", "gpu_op", "gpu_annotation", "sync", "flow", "counter", "memory_event", "annotation", "metadata"};

// A thread of a process, as the file numbers them.
struct Place {
  int64_t pid = 0, tid = 0;
};

// Nanoseconds as decimal microseconds with three digits, exactly: -1234 → "-1.234".
void AppendUs(std::string& out, int64_t ns);

// An Events object writes the list of events of one file. An event is Begin(), its name, place, time and fields,
// its arguments, End(), in this order; nothing checks the order. For one thread.
class Events {
 public:
  explicit Events(Sink& sink) : sink_(sink) { block_.reserve(kBlockBytes + kBlockBytes / 4); }

  // Times that follow are counted from here, and texts are of this trace.
  void SetTrace(int64_t offset_ns, TextCache& texts) { offset_ns_ = offset_ns, texts_ = &texts; }

  // Text outside events.
  void Raw(std::string_view text);
  // False: the sink takes no more; what follows is thrown away.
  bool good() const { return good_; }
  void Flush();

  Events& Begin(Kind kind, char phase, std::string_view category);
  Events& Name(StringId id);
  Events& Name(std::string_view text);
  Events& At(Place place, int64_t ts_ns);
  Events& Of(Place place);  // where; metadata has no time
  Events& Dur(int64_t dur_ns);
  // A field of the event itself; before the arguments.
  Events& Field(std::string_view key, std::string_view text);
  Events& Field(std::string_view key, int64_t value);
  // Arguments. What is absent (kAbsent, kAbsent32, NaN, an empty text) is left out. Keys are plain.
  Events& Arg(std::string_view key, int64_t value);
  Events& Arg(std::string_view key, int32_t value) {
    return Arg(key, value == kAbsent32 ? kAbsent : static_cast<int64_t>(value));
  }
  Events& Arg(std::string_view key, double value);
  Events& Arg(std::string_view key, float value);
  Events& Arg(std::string_view key, std::string_view text);
  Events& Arg(std::string_view key, const char* text) { return Arg(key, std::string_view(text)); }
  Events& Arg(std::string_view key, StringId text);
  Events& JsonArg(std::string_view key, StringId json);              // a text that is JSON itself
  Events& RawArg(std::string_view key, std::string_view json_text);  // known to be JSON
  void End();

  // Returns the number of events of each kind that there is.
  std::vector<std::pair<std::string_view, int64_t>> counts() const;
  int64_t bytes() const { return bytes_ + static_cast<int64_t>(block_.size()); }

 private:
  static constexpr size_t kBlockBytes = size_t{512} * 1024;
  void Key(std::string_view key);
  void ArgKey(std::string_view key);

  Sink& sink_;
  std::string block_;
  TextCache* texts_ = nullptr;
  int64_t offset_ns_ = 0, bytes_ = 0;
  bool good_ = true, first_ = true, in_args_ = false;
  std::array<int64_t, static_cast<size_t>(Kind::kCount)> counts_{};
};

}  // namespace gapless::internal::chrome
