// SPDX-License-Identifier: Apache-2.0
// SQL table slice: host slices with the process and thread numbers of the operating system. Slices of one thread nest;
// self_ns adds up without counting twice, dur_ns does not.
#include "query/cells.h"

namespace gapless::internal::slice_sqltable {
namespace {

// A slice names its thread by row; SQL shows the numbers of the operating system.
template <auto member>
SqlValue OfThread(const SqlRow& at) {
  const Trace& trace = *at.trace->trace;
  const ThreadId thread = trace.slices.thread[at.row];
  return thread.valid() ? SqlValue::Int((trace.threads.*member)[thread.value]) : SqlValue::Null();
}

constexpr ComputedCell kCells[] = {{"pid", OfThread<&ThreadTable::pid>}, {"tid", OfThread<&ThreadTable::tid>}};

}  // namespace

SQL_TABLE(slice) = kStored<&Trace::slices, &IdBase::slice, kCells>;

}  // namespace gapless::internal::slice_sqltable
