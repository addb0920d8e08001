// SPDX-License-Identifier: Apache-2.0
// Units of metrics. A report has none: they follow from how ncu builds the names of metrics.
#pragma once

#include <string>
#include <string_view>

namespace gapless::internal::ncu_rep {

// Returns the base unit of a metric as ncu_csv has it ("ns", "byte/second", "cycle/second", "%"); empty: none.
std::string UnitOf(std::string_view metric);

}  // namespace gapless::internal::ncu_rep
