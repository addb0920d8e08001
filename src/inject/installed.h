// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gapless::internal::inject {

class Collector;
// The collector of this process; null before it starts. CUPTI's callbacks carry nothing of ours, so it is found here.
Collector* Installed();

}  // namespace gapless::internal::inject
