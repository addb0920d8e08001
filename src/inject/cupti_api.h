// SPDX-License-Identifier: Apache-2.0
// CUPTI as found at run time. Nothing of it is linked: the same collector serves programs with CUDA 12 and 13.
#pragma once

#include <cupti_activity.h>
#include <cupti_version.h>

#include <cstddef>
#include <cstdint>

namespace gapless::internal::inject {

// The folders where CUPTI lies when the loader does not know of it. TryPath takes a path that may not exist; returns
// true to end the search.
using TryPath = bool (*)(const char* path, void* context);

// Tries the places of CUPTI beside the CUDA runtime (or CUPTI's own neighbours) that this process has loaded, for the
// same major version: in the same folder (wheels of CUDA 13, targets/ of the toolkit), in cuda_cupti/lib (wheels of
// CUDA 12), in extras/CUPTI/lib64 (toolkit).
bool VisitBesideRuntime(TryPath try_path, void* context);
// The same of a given library, e.g. …/nvidia/cuda_runtime/lib/libcudart.so.12.
bool VisitBeside(const char* library_path, TryPath try_path, void* context);
// Tries the toolkits in /usr/local/cuda* that have CUPTI of this major version, the last in name order first.
bool VisitToolkits(int major, TryPath try_path, void* context);

inline constexpr size_t kMaxPath = 4096;

// The functions used, name by name. kNeeded ones must be there; the others may be null.
// clang-format off
#define GAPLESS_CUPTI_NEEDED(F) \
  F(cuptiGetVersion) F(cuptiSubscribe) F(cuptiActivityRegisterCallbacks) F(cuptiActivityEnable) \
  F(cuptiActivityFlushAll) F(cuptiActivityGetNextRecord)
#define GAPLESS_CUPTI_OPTIONAL(F) \
  F(cuptiUnsubscribe) F(cuptiActivityDisable) F(cuptiActivityGetNumDroppedRecords) F(cuptiGetTimestamp) \
  F(cuptiGetCallbackName) F(cuptiGetResultString) F(cuptiSetThreadIdType) F(cuptiActivityEnableRuntimeApi) \
  F(cuptiActivityEnableDriverApi)
// clang-format on

// CuptiApi holds the functions of the opened library, which is never closed: CUPTI may call back at any time.
struct CuptiApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses): the argument is a name, not a value
#define GAPLESS_CUPTI_MEMBER(name) decltype(&::name) name = nullptr;
  GAPLESS_CUPTI_NEEDED(GAPLESS_CUPTI_MEMBER)
  GAPLESS_CUPTI_OPTIONAL(GAPLESS_CUPTI_MEMBER)
#undef GAPLESS_CUPTI_MEMBER
  void* library = nullptr;
  uint32_t version = 0;  // as cuptiGetVersion says: 18 to 28 for CUDA 12, 130000 and up for 13
  char path[kMaxPath] = "";
};

// Opens CUPTI and looks its functions up. Tried in order: the file that GAPLESS_CUPTI_LIBRARY names, and no other, if
// it is set; what the process has loaded already; beside the CUDA runtime the process has loaded (the layouts of
// NVIDIA's Python wheels and of the toolkit); the loader's own search; /usr/local/cuda*. On failure `why` says what was
// wrong.
bool OpenCupti(CuptiApi& api, char* why, size_t why_size);

// CUPTI's words for a result; never null.
const char* ResultText(const CuptiApi& api, CUptiResult result);

}  // namespace gapless::internal::inject
