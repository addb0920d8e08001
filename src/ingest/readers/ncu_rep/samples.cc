// SPDX-License-Identifier: Apache-2.0
// A sampler looks at a scheduler every few hundred cycles and notes where one of its warps is, and why that does not go
// on. ncu counts samples by address and reason; those of warps that could not issue at all are counted again in metrics
// of their own, which are left out.
#include "ingest/readers/ncu_rep/samples.h"

#include <cmath>

#include "base/wire_format.h"

namespace gapless::internal::ncu_rep {
namespace {

constexpr std::string_view kCount = "smsp__pcsamp_sample_count", kReason = "smsp__pcsamp_warps_issue_stalled_",
                           kAgain = "_not_issued", kExecuted = "inst_executed";
constexpr double kMost = 9e15;  // whole numbers end here

// Takes a whole number out of a value; below 0: there is none.
int64_t SampledNumber(std::string_view message) {
  double number = -1;
  for (WireReader fields(message); fields.Next();) {
    if (fields.is_bytes()) continue;
    if (fields.number() == 2 || fields.number() == 3) number = fields.Real();
    if (fields.number() == 4 || fields.number() == 5) number = static_cast<double>(fields.Unsigned());
  }
  return number >= 0 && number <= kMost ? std::llround(number) : -1;
}

// Takes the address that a value belongs to; false: it belongs to something else.
bool TakeAddress(std::string_view message, uint64_t& address) {
  bool there = false;
  for (WireReader fields(message); fields.Next();)
    if ((fields.number() == 4 || fields.number() == 5) && !fields.is_bytes()) there = true, address = fields.Unsigned();
  return there;
}

}  // namespace

bool IsOfInstructions(std::string_view metric) {
  return metric == kCount || metric == kExecuted || (metric.starts_with(kReason) && !metric.ends_with(kAgain));
}

bool Samples::Take(std::string_view metric, const std::vector<std::string_view>& values) {
  bool whole = true;
  for (const std::string_view message : values) {
    uint64_t address = 0;
    int64_t count = -1;
    bool placed = false;
    WireReader fields(message);
    while (fields.Next()) {
      if (fields.number() == 1 && fields.is_bytes()) placed = TakeAddress(fields.bytes(), address);
      if (fields.number() == 2 && fields.is_bytes()) count = SampledNumber(fields.bytes());
    }
    whole = whole && !fields.damaged();
    if (!placed || count < 0) continue;
    Instruction& at = at_[address];
    if (metric == kCount) at.samples = count;
    if (metric == kExecuted) at.executed = count;
    if (metric.starts_with(kReason) && count > 0) at.reasons.emplace_back(metric.substr(kReason.size()), count);
  }
  return whole;
}

// The samples by reason, and those without one.
void Samples::AddInstruction(KernelLineRow row, const Instruction& at, TraceBuilder& builder) const {
  row.executed = at.executed;
  int64_t rest = at.samples;
  for (const auto& [reason, count] : at.reasons) {
    row.stall = reason, row.samples = count;
    rest -= count;
    builder.Add(row);
  }
  row.stall = {}, row.samples = rest;
  if (rest > 0) builder.Add(row);
}

void Samples::AddRows(const About& about, Code& code, TraceBuilder& builder) const {
  for (const auto& [address, at] : at_) {
    if (at.samples <= 0 && at.reasons.empty()) continue;
    KernelLineRow row{.kernel_name = about.kernel,
                      .launch_index = about.launch,
                      .pc = static_cast<int64_t>(address - at_.begin()->first),
                      .samples = 0};
    const auto place = code.Find(about.program, address);
    if (place) {
      row.function = place->function == about.mangled ? about.function : place->function;
      row.pc = static_cast<int64_t>(place->offset);
      row.file = place->file;
      if (place->line > 0) row.line = place->line;
    }
    AddInstruction(row, at, builder);
  }
}

}  // namespace gapless::internal::ncu_rep
