// SPDX-License-Identifier: Apache-2.0
// The output of `gapless doctor`: text for people, and JSON.
#pragma once

#include <span>
#include <string>

#include "base/describe.h"
#include "collect/doctor/check.h"
#include "gapless/report_options.h"

namespace gapless::internal {

// Lines of at most options.width columns. Problems and warnings say why they matter and what to type; the rest is a
// line each.
std::string DoctorText(std::span<const CheckedFinding> findings, const RenderOptions& options);
// The document of --json: every finding with its check, and the problems and warnings as sentences.
extern const TypeInfo kDoctorDocument;
std::string DoctorJson(std::span<const CheckedFinding> findings);

// Returns true if no finding is a problem.
bool IsHealthy(std::span<const CheckedFinding> findings);

}  // namespace gapless::internal
