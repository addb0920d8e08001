// SPDX-License-Identifier: Apache-2.0
// Folders where CUPTI lies when the loader does not know of it.
#pragma once

namespace gapless::internal::inject {

// Takes a path that may not exist; returns true to end the search.
using TryPath = bool (*)(const char* path, void* context);

// Where CUPTI stands beside the CUDA runtime (or CUPTI's own neighbours) that this process has loaded, for the same
// major version: in the same folder (wheels of CUDA 13, targets/ of the toolkit), in cuda_cupti/lib (wheels of CUDA
// 12), in extras/CUPTI/lib64 (toolkit).
bool VisitBesideRuntime(TryPath try_path, void* context);
// The same of a given library, e.g. …/nvidia/cuda_runtime/lib/libcudart.so.12.
bool VisitBeside(const char* library_path, TryPath try_path, void* context);
// Tries the toolkits in /usr/local/cuda* that have CUPTI of this major version, the last in name order first.
bool VisitToolkits(int major, TryPath try_path, void* context);

}  // namespace gapless::internal::inject
