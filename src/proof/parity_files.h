#pragma once
#include <string>
#include "base/result.h"
#include "validate/parity.h"
namespace gapless::internal {
Result<ParityRecording> ReadParityRecording(const std::string& folder);
}
