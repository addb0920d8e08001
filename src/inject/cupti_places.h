// SPDX-License-Identifier: Apache-2.0
// Folders where CUPTI lies when the loader does not know of it.
#pragma once

namespace gapless::internal::inject {

// Told a path that may not exist; true ends the search.
using TryPath = bool (*)(const char* path, void* context);

// Where CUPTI stands beside the CUDA runtime (or CUPTI's own neighbours) that this process has loaded, for the same
// major version: in the same folder (wheels of CUDA 13, targets/ of the toolkit), in cuda_cupti/lib (wheels of CUDA
// 12), in extras/CUPTI/lib64 (toolkit).
bool VisitBesideRuntime(TryPath try_path, void* context);
// The same of a given library, e.g. …/nvidia/cuda_runtime/lib/libcudart.so.12.
bool VisitBeside(const char* library_path, TryPath try_path, void* context);
// /usr/local/cuda*: that of the wanted major version first, then `cuda`, then the others.
bool VisitToolkits(int major, TryPath try_path, void* context);

}  // namespace gapless::internal::inject
