// SPDX-License-Identifier: Apache-2.0
// Reads the tables of one process from a database of rocprofv3.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/readers/nsys/database.h"
#include "ingest/readers/rocpd/meaning.h"

namespace gapless::internal::rocm {

// The tables of one process have the same ending: "_0199c4a8_…"; none in the first versions.
std::vector<std::string> EndingsOf(const nsys::Database& database);

// Reads everything of one process into `meaning`, and describes host, devices and threads in `builder`.
void ReadProcess(nsys::Database& database, const std::string& ending, const ReadContext& context, TraceBuilder& builder,
                 Meaning& meaning);

}  // namespace gapless::internal::rocm
