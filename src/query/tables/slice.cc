// SPDX-License-Identifier: Apache-2.0
// SQL table slice: host slices with the process and thread numbers of the operating system. Slices of one thread nest;
// self_ns adds up without counting twice, dur_ns does not.
#include "query/cells.h"

namespace gapless::internal {
namespace {

// A slice names its thread by row; SQL shows the numbers of the operating system.
template <auto member>
SqlValue OfThread(const SqlRow& at) {
  const Trace& trace = *at.trace->trace;
  const ThreadId thread = trace.slices.thread[at.row];
  return thread.valid() ? SqlValue::Int((trace.threads.*member)[thread.value]) : SqlValue::Null();
}

constexpr auto kTable = &Trace::slices;
constexpr auto kInt = ColumnType::kInt;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    {"id", kInt, "", "unique over the run, the same each time it is opened", IdCell<&IdBase::slice>},
    kTraceKey,
    kRankKey,
    {"name", kText, "", "what ran", Cell<kTable, &SliceTable::name>},
    {"category", kText, "", "operator, annotation, python, runtime, driver, overhead or other",
     Cell<kTable, &SliceTable::category>},
    {"pid", kInt, "", "process", OfThread<&ThreadTable::pid>},
    {"tid", kInt, "", "thread", OfThread<&ThreadTable::tid>},
    {"ts_ns", kInt, "ns", "start, in run time", TimeCell<kTable, &SliceTable::ts_ns>},
    {"dur_ns", kInt, "ns", "duration", Cell<kTable, &SliceTable::dur_ns>},
    {"self_ns", kInt, "ns", "duration without what its children cover", Cell<kTable, &SliceTable::self_ns>},
    {"depth", kInt, "", "0: outermost", Cell<kTable, &SliceTable::depth>},
    {"parent_id", kInt, "id:slice", "the slice around it; NULL: outermost", Cell<kTable, &SliceTable::parent>},
    {"step", kInt, "", "number of the step it lies in", Cell<kTable, &SliceTable::step>},
    {"external_id", kInt, "", "number the recorder links operators and device work by",
     Cell<kTable, &SliceTable::external_id>},
    {"correlation", kInt, "", "number the recorder links calls and device work by",
     Cell<kTable, &SliceTable::correlation>},
    {"sequence", kInt, "", "autograd sequence number: joins forward and backward", Cell<kTable, &SliceTable::sequence>},
    {"input_shapes", kText, "", "shapes of the inputs, as recorded", Cell<kTable, &SliceTable::input_shapes>},
    {"input_types", kText, "", "types of the inputs, as recorded", Cell<kTable, &SliceTable::input_types>},
    {"source_line", kText, "", "file:line in the user's code, or function() (file) where only the function is known",
     Cell<kTable, &SliceTable::source_line>},
    {"concrete_inputs", kText, "", "values of the inputs that are no tensors, as recorded",
     Cell<kTable, &SliceTable::concrete_inputs>},
};

}  // namespace

SQL_TABLE(slice) = {.name = "slice",
                    .help = "Host side: operators, runtime and driver calls, annotations, Python frames",
                    .columns = kColumns,
                    .rows = RowsOf<kTable>,
                    .first_id = FirstIdOf<&IdBase::slice>,
                    .ts = TimesOf<kTable, &SliceTable::ts_ns>};

}  // namespace gapless::internal
