// SPDX-License-Identifier: Apache-2.0
// The data of the page of a recording: what a report has inside, and what a server hands out. web/src/data.ts describes
// them for the page.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "report/renderer.h"
#include "trace/table.h"

namespace gapless::internal {

// One document. `write_served` writes the member `served` of a page that asks a server for its timeline; without it the
// data hold as much of the timeline as fits.
std::string PageData(const Report& report, const std::function<void(JsonWriter&)>& write_served = {});

// The members `columns` and `cells` of a table; cells are lists by column. An absent cell is null.
void WritePageColumns(JsonWriter& json, std::span<const ColumnSpec> columns);
void WritePageCells(JsonWriter& json, const Table& table, const std::vector<size_t>& rows,
                    const std::function<void(std::string_view)>& write_text);

}  // namespace gapless::internal
