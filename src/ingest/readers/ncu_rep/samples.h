// SPDX-License-Identifier: Apache-2.0
// Samples of a launch, instruction by instruction: values that metrics have for single addresses.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/readers/ncu_rep/code.h"
#include "trace/builder.h"

namespace gapless::internal::ncu_rep {

// Are the single values of the metric those of instructions that are read?
bool IsOfInstructions(std::string_view metric);

class Samples {
 public:
  // Takes the single values of such a metric, a message each. False: one is damaged.
  bool Take(std::string_view metric, const std::vector<std::string_view>& values);

  struct About {
    std::string_view kernel{}, mangled{}, function{};
    int64_t launch = 0;
    uint64_t program = 0;
  };
  // Adds the rows of the launch. A launch without samples has none.
  void AddRows(const About& about, Code& code, TraceBuilder& builder) const;

 private:
  struct Instruction {
    int64_t samples = 0, executed = kAbsent;
    std::vector<std::pair<std::string, int64_t>> reasons{};
  };
  void AddInstruction(KernelLineRow row, const Instruction& at, TraceBuilder& builder) const;

  std::map<uint64_t, Instruction> at_{};  // by address
};

}  // namespace gapless::internal::ncu_rep
