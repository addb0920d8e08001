// SPDX-License-Identifier: Apache-2.0
// Names of columns and metrics, as the pages and the versions of ncu print them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gapless::internal::ncu {

// A column about the launch that a row belongs to, and what the metric of it is called here.
struct AboutColumn {
  std::string_view printed, metric;
};
std::span<const AboutColumn> AboutColumns();
// Returns true if the column holds no metric.
bool IsAbout(std::string_view column);

// Returns the metric's own name for a name of the details page; others are called "section: name". Names that are a
// metric's own already, as --metrics prints them, stay.
std::string MetricOf(std::string_view section, std::string_view printed);

}  // namespace gapless::internal::ncu
