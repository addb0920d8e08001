// SPDX-License-Identifier: Apache-2.0
// The parts of a run's mean step: the ledger that two runs are compared by, and that a record of the history keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "base/describe.h"
#include "base/result.h"

namespace gapless::internal {

// A row of table step_parts, over all devices.
struct StepPart {
  std::string part{}, name{}, op{};  // as in the table; empty: not recorded
  bool after_wait = false;
  std::string line{};
  int64_t calls = 0, ns = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&StepPart::part>("p", "", "part, as in table step_parts"),
      Field<&StepPart::name>("n", "", "name of what took it", kUnlessEmpty),
      Field<&StepPart::op>("o", "", "innermost operator that launched it", kUnlessEmpty),
      Field<&StepPart::after_wait>("w", "", "in a gap that began while the host waited", kUnlessEmpty),
      Field<&StepPart::line>("l", "", "line of the user's code", kUnlessEmpty),
      Field<&StepPart::calls>("c", "count", "calls in all steps", kUnlessEmpty),
      Field<&StepPart::ns>("t", "ns", "time in all steps"),
  };
};

inline constexpr std::string_view kOtherParts = "(others)";  // name of the sum of small parts in a stored ledger

struct StepLedger {
  int64_t version = 1;
  int64_t steps = 0;    // complete steps, of every device (without devices: of every process) once; 0: none is marked
  int64_t devices = 0;  // devices, without any processes
  bool on_device = false;
  int64_t wall_ns = 0;  // analysed time of all of them; the parts add up to it
  std::optional<int64_t> median_step_ns{};
  std::optional<double> clock_hz{};  // mean clock of the multiprocessors while the steps ran
  std::string device_name{};
  std::vector<StepPart> parts{};
  // Parts below this were added up, one for each name of a part; 0: all are there.
  int64_t summed_below_ns = 0;
  std::vector<std::string> operators{};  // names of all that ran, ascending; empty in a stored ledger

  // Number of units that a part is divided by: steps of devices, or devices where there are no steps.
  int64_t Units() const { return steps > 0 ? steps : devices; }
  static constexpr FieldInfo kFields[] = {
      Field<&StepLedger::version>("version", "", "version of this layout"),
      Field<&StepLedger::steps>("steps", "count", "complete steps, once for each device", kUnlessEmpty),
      Field<&StepLedger::devices>("devices", "count", "devices; where none worked, processes"),
      Field<&StepLedger::on_device>("on_device", "", "false: no device did work", kUnlessEmpty),
      Field<&StepLedger::wall_ns>("wall_ns", "ns", "analysed time of all devices"),
      Field<&StepLedger::median_step_ns>("median_step_ns", "ns", "median step"),
      Field<&StepLedger::clock_hz>("clock_hz", "Hz", "mean clock of the multiprocessors"),
      Field<&StepLedger::device_name>("device", "", "model of the device", kUnlessEmpty),
      Field<&StepLedger::parts>("parts", "", "parts that add up to wall_ns"),
      Field<&StepLedger::summed_below_ns>("summed_below_ns", "ns", "smaller parts are added up", kUnlessEmpty),
      Hidden<&StepLedger::operators>(),
  };
};

// Returns the ledger of a run; an error: the run holds no time that can be divided.
Result<StepLedger> StepLedgerOf(Tables& tables);

// Returns the ledger with names as a stored one has them: long ones are cut, and end in a check sum.
StepLedger WithShortNames(StepLedger ledger);

// As the history keeps it: JSON of at most kMostLedgerBytes, with the largest parts that find room and the sum of the
// others for each part. Adds up as the whole ledger does.
inline constexpr size_t kMostLedgerBytes = 4096;
std::string StoredLedger(StepLedger ledger);
// An error: a text of another kind, or of a newer program.
Result<StepLedger> ReadStoredLedger(std::string_view text);

}  // namespace gapless::internal
