// SPDX-License-Identifier: Apache-2.0
// The output of `gapless validate`.
#pragma once

#include <string>

#include "base/described_json.h"
#include "proof/validation.h"

namespace gapless::internal {

// The whole output, as text and as a JSON document. `plan` has the commands that were compared.
std::string ValidationText(const Validation& validation, const PairPlan& plan);
extern const TypeInfo kValidateDocument;
std::string ValidationJson(const Validation& validation, const PairPlan& plan);

}  // namespace gapless::internal
