// SPDX-License-Identifier: Apache-2.0
// The content of a dump of PyTorch's Flight Recorder, whichever form it has.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/source.h"
#include "trace/ids.h"

namespace gapless::internal::flight_recorder {

struct Frame {
  std::string function, file;
  int64_t line = kAbsent;
};

struct Call {
  std::string name, group_name, group_desc, state, in_shape, out_shape, in_dtype, out_dtype;
  int64_t pg_id = kAbsent, record = kAbsent, seq = kAbsent, p2p_seq = kAbsent;
  int64_t created_ns = kAbsent, started_ns = kAbsent, completed_ns = kAbsent, timeout_ms = kAbsent;
  double duration_ms = -1;  // below 0: not measured
  int64_t in_elements = kAbsent, out_elements = kAbsent;
  bool is_p2p = false, retired = false;
  std::vector<Frame> frames{};  // innermost first
};

struct Group {
  std::string ranks;  // "[0, 1]"
  std::string desc;
};

// The last collective of a group that this rank called and that was done, by the number of the group.
struct Status {
  int64_t enqueued = kAbsent, started = kAbsent, completed = kAbsent;
};

struct Dump {
  std::string version, library_version;
  int64_t rank = kAbsent;
  std::map<std::string, Group, std::less<>> groups{};
  std::map<int64_t, Status> status{};
  std::vector<Call> calls{};
  int64_t bad_calls = 0;
  std::string damage;  // why reading stopped; "": it did not
};

// An error: the pickle is refused, or nothing could be read.
Result<Dump> ReadPickleDump(Source& source, const std::atomic<bool>* cancel);
Result<Dump> ReadJsonDump(std::string_view text, const std::string& path);

// Adds up the sizes of tensors, [[3, 4], [2]]: text and number of elements.
struct Sizes {
  std::string text;
  int64_t elements = kAbsent;
};
constexpr int64_t kMaxElements = int64_t{1} << 50;

}  // namespace gapless::internal::flight_recorder
