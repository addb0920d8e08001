// SPDX-License-Identifier: Apache-2.0
// Results of benchmarks of collectives (nccl-tests, rccl-tests), in the order of the file.
#pragma once

#include "trace/columns.h"

namespace gapless::internal {

template <template <class> class Of>
struct CommBenchmarkColumns {
  Of<int64_t> test = kRequired<Of>;
  Of<StringId> program = kUnset;
  Of<StringId> kind = kUnset;
  Of<int64_t> ranks = kUnset;
  Of<int64_t> bytes = kRequired<Of>;
  Of<int64_t> elements = kUnset;
  Of<StringId> dtype = kUnset;
  Of<StringId> redop = kUnset;
  Of<int64_t> root = kUnset;
  Of<StringId> placement = kRequired<Of>;
  Of<int64_t> dur_ns = kRequired<Of>;
  Of<double> algo_gbps = kUnset;
  Of<double> bus_gbps = kUnset;
  Of<int64_t> wrong = kUnset;

  static constexpr AboutTable kAbout{"comm_benchmark",
                                     "Results of nccl-tests and rccl-tests: one row per size and placement"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      ShownColumn<&CommBenchmarkColumns::test>("", "number of the table in the file, from 0"),
      ShownColumn<&CommBenchmarkColumns::program>("", "all_reduce_perf, …; NULL: not said"),
      ShownColumn<&CommBenchmarkColumns::kind>("", "all_reduce, all_gather, …; NULL: not said"),
      ShownColumn<&CommBenchmarkColumns::ranks>("", "ranks of the test; NULL: not said"),
      ShownColumn<&CommBenchmarkColumns::bytes>("bytes", "size"),
      ShownColumn<&CommBenchmarkColumns::elements>("", "elements of that size"),
      ShownColumn<&CommBenchmarkColumns::dtype>("", "element type"),
      ShownColumn<&CommBenchmarkColumns::redop>("", "reduction: sum, prod, …; none"),
      ShownColumn<&CommBenchmarkColumns::root>("", "root rank; -1: it has none"),
      ShownColumn<&CommBenchmarkColumns::placement>("", "out_of_place or in_place"),
      ShownColumn<&CommBenchmarkColumns::dur_ns>("ns", "mean time of a call"),
      ShownColumn<&CommBenchmarkColumns::algo_gbps>("GB/s", "algorithm bandwidth, as the file has it"),
      ShownColumn<&CommBenchmarkColumns::bus_gbps>("GB/s", "bus bandwidth, as the file has it"),
      ShownColumn<&CommBenchmarkColumns::wrong>("", "values that are wrong; NULL: not checked"),
  };
};
using CommBenchmarkRow = CommBenchmarkColumns<InTextView>;
using CommBenchmarkTable = TableFor<CommBenchmarkColumns>;

}  // namespace gapless::internal
