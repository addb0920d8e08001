// SPDX-License-Identifier: Apache-2.0
// Tables as Arrow streams: how data frames (Polars, pandas), engines (DuckDB) and files (Parquet) take them, without
// copies of the numbers.
//
//   ArrowArrayStream stream;
//   if (const auto done = gapless::ExportArrow(table, &stream); !done) return Complain(done.error());
//   …                          // hand it to a library, which releases it, or
//   stream.release(&stream);
//
// Integers are int64, reals float64, texts dictionary-encoded UTF-8 with one dictionary for the stream. What is absent
// is null. A field's metadata has "unit" and "help" (column.h), the schema's has the table's "name". Each recording of
// the run is a batch of its own.
#pragma once

#include <span>
#include <string>

#include "gapless/arrow_abi.h"
#include "gapless/export.h"
#include "gapless/result.h"
#include "gapless/table.h"

namespace gapless {

// Fills `stream` with the columns of these names, in this order; with all where none is named. The stream keeps alive
// what it needs, and may be used from any one thread at a time. An error, with a hint, if a column does not exist;
// `stream` is then not filled.
GAPLESS_API Result<void> ExportArrow(const Table& table, ArrowArrayStream* stream,
                                     std::span<const std::string> columns = {});

}  // namespace gapless
