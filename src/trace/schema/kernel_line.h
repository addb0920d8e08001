// SPDX-License-Identifier: Apache-2.0
// Samples of single instructions of measured kernels, by the reason for which the warp waited. In the order of the
// file: launch by launch.
#pragma once

#include "trace/columns.h"

namespace gapless::internal {

template <template <class> class Of>
struct KernelLineColumns {
  Of<StringId> kernel_name = kRequired<Of>;
  Of<int64_t> launch_index = kRequired<Of>;
  Of<StringId> function = kUnset;
  Of<int64_t> pc = kRequired<Of>;
  Of<StringId> file = kUnset;
  Of<int64_t> line = kUnset;
  Of<StringId> stall = kUnset;
  Of<int64_t> samples = kRequired<Of>;
  Of<int64_t> executed = kUnset;

  static constexpr AboutTable kAbout{"kernel_line",
                                     "Where measured kernels spend their time: samples by instruction and reason"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      ShownColumn<&KernelLineColumns::kernel_name>("", "kernel"),
      ShownColumn<&KernelLineColumns::launch_index>("", "ordinal of the launch, as in kernel_metric"),
      ShownColumn<&KernelLineColumns::function>("", "function of the instruction; NULL: not recorded"),
      ShownColumn<&KernelLineColumns::pc>("bytes", "place of the instruction from the function's beginning"),
      ShownColumn<&KernelLineColumns::file>("", "source file; NULL: compiled without lines"),
      ShownColumn<&KernelLineColumns::line>("", "line in it; NULL: compiled without lines"),
      ShownColumn<&KernelLineColumns::stall>(
          "", "why the warp did not go on: long_scoreboard, wait, barrier, …; selected: it did; NULL: no reason given"),
      ShownColumn<&KernelLineColumns::samples>("", "samples of warps there, for that reason"),
      ShownColumn<&KernelLineColumns::executed>("", "how often warps executed the instruction; NULL: not counted"),
  };
};
using KernelLineRow = KernelLineColumns<InTextView>;
using KernelLineTable = TableFor<KernelLineColumns>;

}  // namespace gapless::internal
