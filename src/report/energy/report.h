// SPDX-License-Identifier: Apache-2.0
// The output of `gapless report --style energy`: a document, and JSON.
#pragma once

#include <string>

#include "base/describe.h"
#include "base/json_writer.h"
#include "diagnose/energy.h"
#include "report/lab/lab.h"

namespace gapless::internal {

// The content that both formats show. What it refers to outlives it.
struct EnergyView {
  const EnergyAccount& account;
  const CostRates& rates;
  std::string title{};   // empty: a default
  std::string run{};     // name of the recording, as the user gave it
  std::string device{};  // "NVIDIA H100"; empty: not recorded
};

LabDocument WriteEnergy(const EnergyView& view);
extern const TypeInfo kEnergyDocument;
std::string EnergyJson(const EnergyView& view);
// The same document's fields, as an object without an envelope.
void WriteEnergyObject(JsonWriter& json, const EnergyView& view);

}  // namespace gapless::internal
