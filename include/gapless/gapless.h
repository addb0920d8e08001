// SPDX-License-Identifier: Apache-2.0
// The whole public API. docs/cpp_api.md is its guide.
#pragma once

#include "gapless/analyzers.h"       // IWYU pragma: export
#include "gapless/arrow.h"           // IWYU pragma: export
#include "gapless/bottleneck.h"      // IWYU pragma: export
#include "gapless/column.h"          // IWYU pragma: export
#include "gapless/metrics.h"         // IWYU pragma: export
#include "gapless/open_options.h"    // IWYU pragma: export
#include "gapless/optimize.h"        // IWYU pragma: export
#include "gapless/report_options.h"  // IWYU pragma: export
#include "gapless/result.h"          // IWYU pragma: export
#include "gapless/run.h"             // IWYU pragma: export
#include "gapless/safety.h"          // IWYU pragma: export
#include "gapless/speedup.h"         // IWYU pragma: export
#include "gapless/summary.h"         // IWYU pragma: export
#include "gapless/table.h"           // IWYU pragma: export
#include "gapless/validator.h"       // IWYU pragma: export
#include "gapless/version.h"         // IWYU pragma: export
