// SPDX-License-Identifier: Apache-2.0
// Training steps, or whatever the run repeats. Sorted by ts_ns; they do not overlap.
#pragma once

#include "trace/columns.h"
#include "trace/enums.h"

namespace gapless::internal {

template <template <class> class Of>
struct StepColumns {
  Of<int64_t> number = kRequired<Of>;
  Of<StringId> name = kUnset;
  Of<int64_t> ts_ns = kRequired<Of>;
  Of<int64_t> dur_ns = kRequired<Of>;
  Of<Derived<int64_t>> gpu_start_ns = kUnset;
  Of<Derived<int64_t>> gpu_end_ns = kUnset;
  Of<YesOrNo> complete = BeginsAs{true};
  Of<StepSource> source = BeginsAs{StepSource::kProfiler};
  Of<int64_t> samples = kUnset;
  Of<int64_t> wait_ns = kUnset;
  Of<double> loss = kUnset;

  static constexpr AboutTable kAbout{"step", "Training steps, or whatever the run repeats"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      RankKey(),
      ShownColumn<&StepColumns::number>("", "number in the annotation, else the ordinal").As("step"),
      ShownColumn<&StepColumns::name>("", "as annotated"),
      TimeColumn<&StepColumns::ts_ns>("start on the host, in run time"),
      ShownColumn<&StepColumns::dur_ns>("ns", "duration on the host"),
      TimeColumn<&StepColumns::gpu_start_ns>("start of the first work the step launched"),
      TimeColumn<&StepColumns::gpu_end_ns>("end of the last work the step launched"),
      ShownColumn<&StepColumns::complete>("", "0: cut off by the recording"),
      ShownColumn<&StepColumns::source>("", "profiler, annotation, agent or inferred"),
      ShownColumn<&StepColumns::samples>("", "samples trained on"),
      UnfilledColumn<int64_t>("tokens", "", "tokens trained on"),
      ShownColumn<&StepColumns::loss>("", "loss reported"),
      ShownColumn<&StepColumns::wait_ns>("ns", "spent waiting for batches, as the agent saw it"),
  };
};
using StepRow = StepColumns<InRow>;
using StepTable = TableFor<StepColumns>;

}  // namespace gapless::internal
