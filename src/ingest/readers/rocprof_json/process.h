// SPDX-License-Identifier: Apache-2.0
// Reads one process of rocprofv3's JSON.
#pragma once

#include <simdjson.h>

#include "ingest/reader.h"
#include "ingest/readers/rocpd/meaning.h"

namespace gapless::internal::rocm {

// Reads everything of one process into `meaning`, and describes host and devices in `builder`.
void ReadJsonProcess(const simdjson::dom::element& process, const ReadContext& context, TraceBuilder& builder,
                     Meaning& meaning);

}  // namespace gapless::internal::rocm
