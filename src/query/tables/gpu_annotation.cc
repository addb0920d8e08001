// SPDX-License-Identifier: Apache-2.0
// SQL table gpu_annotation: the user's ranges as the recorder projected them onto streams. They overlap the operations
// that they name, so their times must not be added to those of gpu_op.
#include "query/cells.h"

namespace gapless::internal::gpu_annotation_sqltable {

SQL_TABLE(gpu_annotation) = kStored<&Trace::gpu_annotations, &IdBase::gpu_annotation>;

}  // namespace gapless::internal::gpu_annotation_sqltable
