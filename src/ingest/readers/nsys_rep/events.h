// SPDX-License-Identifier: Apache-2.0
// The events of a block as rows. One Events per thread; a damaged event costs that event, and is counted.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire_format.h"
#include "ingest/readers/nsys/meaning.h"

namespace gapless::internal::nsys_rep {

// Returns the value of a field; absent if it does not fit, for then it comes from damage.
inline int32_t Narrow(const WireReader& field) {
  const int64_t value = field.Int();
  return value > INT32_MIN && value <= INT32_MAX ? static_cast<int32_t>(value) : kAbsent32;
}

// The layout of the records of one type of generic events: a metric of a GPU each.
struct MetricField {
  std::string_view name{};
  uint64_t offset = 0, bytes = 0;
};
using Layouts = std::map<int64_t, std::vector<MetricField>>;  // by type

// The name of a process, with its place in the file: later ones count.
struct ProcessName {
  uint64_t order = 0;
  int64_t pid = 0;
  std::string name{};
};

class Events {
 public:
  Events(const Layouts& layouts, nsys::Meaning& meaning) : layouts_(layouts), meaning_(meaning) {}

  // Takes all events of one block. Returns false when the block itself is damaged.
  bool Take(uint64_t order, std::string_view block);

  int64_t events() const { return events_; }
  int64_t generic() const { return generic_; }
  int64_t damaged() const { return damaged_; }
  const std::vector<ProcessName>& processes() const { return processes_; }

 private:
  bool TakeEvent(std::string_view event);
  bool TakeGeneric(std::string_view event);
  bool TakeWork(std::string_view body);
  bool TakeKernel(const nsys::Work& work, std::string_view own);
  bool TakeCopy(const nsys::Work& work, std::string_view own);
  bool TakeMemset(const nsys::Work& work, std::string_view own);
  bool TakeSync(const nsys::Work& work, std::string_view own);
  bool TakeGraph(const nsys::Work& work, std::string_view own);
  bool TakeCall(std::string_view body);
  bool TakeRange(std::string_view body);
  bool TakeSample(std::string_view body);
  bool TakeSwitch(std::string_view body);
  bool TakeDiagnostic(std::string_view body);
  bool TakeProcess(std::string_view body);

  const Layouts& layouts_;
  nsys::Meaning& meaning_;
  int64_t events_ = 0, generic_ = 0, damaged_ = 0;
  uint64_t order_ = 0;
  std::vector<ProcessName> processes_{};
};

}  // namespace gapless::internal::nsys_rep
