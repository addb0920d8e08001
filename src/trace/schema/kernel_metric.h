// SPDX-License-Identifier: Apache-2.0
// Metrics of single kernel launches, as a kernel profiler measured them. In the order of the file: launch by launch.
#pragma once

#include "trace/columns.h"
#include "trace/enums.h"

namespace gapless::internal {

template <template <class> class Of>
struct KernelMetricColumns {
  Of<StringId> kernel_name = kRequired<Of>;
  Of<int64_t> launch_index = kRequired<Of>;
  Of<StringId> metric = kRequired<Of>;
  Of<double> value = kUnset;
  Of<StringId> text = kUnset;
  Of<StringId> unit = kUnset;

  static constexpr AboutTable kAbout{"kernel_metric", "Metrics of single kernels, as measured by a kernel profiler"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      UnfilledColumn<int64_t>("gpu_op_id", "id:gpu_op", "the kernel in the timeline"),
      ShownColumn<&KernelMetricColumns::kernel_name>("", "kernel"),
      ShownColumn<&KernelMetricColumns::launch_index>("", "ordinal of the launch"),
      ShownColumn<&KernelMetricColumns::metric>("", "name of the metric"),
      ShownColumn<&KernelMetricColumns::value>("", "value, when it is a number"),
      ShownColumn<&KernelMetricColumns::text>("", "value, when it is a text"),
      ShownColumn<&KernelMetricColumns::unit>("", "of the value"),
  };
};
using KernelMetricRow = KernelMetricColumns<InTextView>;
using KernelMetricTable = TableFor<KernelMetricColumns>;

}  // namespace gapless::internal
