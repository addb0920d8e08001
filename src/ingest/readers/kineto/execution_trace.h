// SPDX-License-Identifier: Apache-2.0
// An execution trace of PyTorch (ExecutionTraceObserver, "Chakra"): which operators a process called, with shapes and
// types of their inputs, and no times. Beside a Kineto trace of the same process it gives operators what was not
// recorded there; the record function id names the same call in both.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "ingest/source.h"
#include "trace/builder.h"
#include "trace/ids.h"
#include "trace/string_pool.h"

namespace gapless::internal::kineto {

// Texts of the inputs as Kineto writes them: "[[4, 16], []]", "[\"float\", \"Scalar\"]", "[\"\", \"1\"]".
struct KnownInputs {
  std::string_view shapes, types, values;
};

// Reading may be shared by threads.
class ExecutionTrace {
 public:
  // Reads the operators of a source; what cannot be read is left out, and counted. Returns an error if there is none.
  static Result<ExecutionTrace> Read(Source& source);
  // Takes one node, as JSON. Returns false if it is none.
  bool Take(std::string_view node);

  struct Operator {
    StringId name = StringId::kNone, shapes = StringId::kNone, types = StringId::kNone, values = StringId::kNone;
  };
  // Null: no operator has this record function id.
  const Operator* Find(int64_t record_function) const;
  std::string_view Text(StringId id) const { return strings_[id]; }

  int64_t pid() const { return pid_; }  // kAbsent: not recorded
  int64_t bad_nodes() const { return bad_nodes_; }
  size_t size() const { return operators_.size(); }

 private:
  int64_t pid_ = kAbsent, bad_nodes_ = 0;
  StringPool strings_{};
  std::unordered_map<int64_t, Operator> operators_{};  // by record function id
};

// A Meeting counts how operators of a recording met those of an execution trace.
struct Meeting {
  int64_t joined = 0;      // the same id, and the same name
  int64_t renamed = 0;     // the same id, and another name
  int64_t missing = 0;     // an id that the execution trace does not have
  int64_t of_others = 0;   // of another process
  int64_t without_id = 0;  // operators whose record function is not known
  void Add(const Meeting& other);
  // Ids are small numbers, so that those of another run meet by chance: nine in ten pairs must have one name.
  bool IsOfTheSameRun() const { return joined > 0 && joined >= 9 * renamed; }
};

// Counts how the two met, for the user; `name` is the file name of the execution trace.
void CountMeeting(const Meeting& meeting, const ExecutionTrace& trace, std::string_view name, TraceBuilder& builder);

}  // namespace gapless::internal::kineto
