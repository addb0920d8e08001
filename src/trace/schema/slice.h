// SPDX-License-Identifier: Apache-2.0
// Host side: operators, runtime and driver calls, annotations, Python frames. One row is one span of one thread.
// Rows are sorted by (ts_ns, longer first, place in the file). A parent wholly contains its children, up to rounding;
// slices of one thread that overlap without nesting stay, as siblings, and are counted in read_stats.
#pragma once

#include "trace/columns.h"
#include "trace/enums.h"

namespace gapless::internal {

template <template <class> class Of>
struct SliceColumns {
  Of<StringId> name = kRequired<Of>;
  Of<SliceCategory> category = BeginsAs{SliceCategory::kOther};
  Of<ApiKind> api = BeginsAs{ApiKind::kNone};  // what a runtime or driver call does
  Of<RowOnly<int64_t>> pid = kRequired<Of>;
  Of<RowOnly<int64_t>> tid = kRequired<Of>;
  Of<ThreadOfRow> thread = kUnset;
  Of<int64_t> ts_ns = kRequired<Of>;
  Of<int64_t> dur_ns = kRequired<Of>;
  Of<Derived<int64_t>> self_ns = kUnset;
  Of<Derived<uint16_t>> depth = kUnset;
  Of<Derived<SliceId>> parent = kUnset;
  Of<Derived<StepId>> step = kUnset;
  Of<int64_t> external_id = kUnset;
  Of<int64_t> correlation = kUnset;
  Of<int64_t> sequence = kUnset;
  Of<StringId> input_shapes = kUnset;  // JSON text, as the other inputs
  Of<StringId> input_types = kUnset;
  Of<StringId> concrete_inputs = kUnset;
  Of<StringId> source_line = kUnset;

  static constexpr AboutTable kAbout{"slice",
                                     "Host side: operators, runtime and driver calls, annotations, Python frames"};
  static constexpr ColumnList kColumns{
      RowKey(),
      TraceKey(),
      RankKey(),
      ShownColumn<&SliceColumns::name>("", "what ran"),
      ShownColumn<&SliceColumns::category>("", "operator, annotation, python, runtime, driver, overhead or other"),
      ComputedColumn<int64_t>("pid", "", "process"),
      ComputedColumn<int64_t>("tid", "", "thread"),
      TimeColumn<&SliceColumns::ts_ns>("start, in run time"),
      ShownColumn<&SliceColumns::dur_ns>("ns", "duration"),
      ShownColumn<&SliceColumns::self_ns>("ns", "duration without what its children cover"),
      ShownColumn<&SliceColumns::depth>("", "0: outermost"),
      ShownColumn<&SliceColumns::parent>("id:slice", "the slice around it; NULL: outermost").As("parent_id"),
      ShownColumn<&SliceColumns::step>("", "number of the step it lies in"),
      ShownColumn<&SliceColumns::external_id>("", "number the recorder links operators and device work by"),
      ShownColumn<&SliceColumns::correlation>("", "number the recorder links calls and device work by"),
      ShownColumn<&SliceColumns::sequence>("", "autograd sequence number: joins forward and backward"),
      ShownColumn<&SliceColumns::input_shapes>("", "shapes of the inputs, as recorded"),
      ShownColumn<&SliceColumns::input_types>("", "types of the inputs, as recorded"),
      ShownColumn<&SliceColumns::source_line>(
          "", "file:line in the user's code, or function() (file) where only the function is known"),
      ShownColumn<&SliceColumns::concrete_inputs>("", "values of the inputs that are no tensors, as recorded"),
      HiddenColumn<&SliceColumns::api>(),
      HiddenColumn<&SliceColumns::pid>(),
      HiddenColumn<&SliceColumns::tid>(),
      HiddenColumn<&SliceColumns::thread>(),
  };
};
using SliceRow = SliceColumns<InRow>;
using SliceStore = StoreFor<SliceColumns>;
using SliceTable = TableFor<SliceColumns>;

}  // namespace gapless::internal
