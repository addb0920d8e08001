// SPDX-License-Identifier: Apache-2.0
// The result of a benchmark as a file: the keys are those of the schema of bench. `store` reads it
// (results/gapless.cc).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/described_json.h"
#include "proof/metrics.h"
#include "store/record.h"
#include "validate/pair_sequence.h"

namespace gapless::internal {

// One number of each process, or the steps or matches of a single one; in ms.
std::vector<double> SeriesOf(const std::vector<RunSample>& samples);

// A TypicalInterval is an interval of the typical value, in the unit of the series: steps, which may depend on
// those before, or processes. Without an interval, `refusal` says why.
struct TypicalInterval {
  std::optional<double> low, high;
  double expected = 0;
  std::string method, refusal;
  std::optional<double> effective_n;
};

TypicalInterval IntervalOf(const std::vector<RunSample>& samples);

// `gapless bench --json`. At least one process, all of the same command and source.
extern const TypeInfo kBenchDocument;
// `next`: command lines that continue from the result.
std::string ResultJson(const std::vector<RunSample>& samples, const std::vector<std::string>& command,
                       const std::vector<std::string>& next = {});
// The same as the history keeps it.
Result<BenchmarkRecord> RecordOf(const std::vector<RunSample>& samples, const std::vector<std::string>& command);

// Returns the same text for machines on which a benchmark takes the same time: processor, cores, GPUs. It is a
// digest, which does not show what it was made of.
std::string FingerprintOf(const HostFacts& host);

}  // namespace gapless::internal
