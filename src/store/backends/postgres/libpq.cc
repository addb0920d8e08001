// SPDX-License-Identifier: Apache-2.0
#include "store/backends/postgres/libpq.h"

#include <dlfcn.h>

#include "base/strings.h"

namespace gapless::internal::postgres {
namespace {

template <class F>
bool Find(void* handle, const char* name, F& out) {
  out = reinterpret_cast<F>(dlsym(handle, name));
  return out != nullptr;
}

}  // namespace

Result<LibPq> OpenLibPq(const char* name) {
  void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return Fail(ErrorCode::kEnvironment, "PostgreSQL's client library is not installed", name,
                "install it: apt install libpq5 (Debian, Ubuntu), dnf install libpq (Fedora, RHEL)");
  LibPq f;
  bool all = true;
#define GAPLESS_LIBPQ_FIND(function) all = Find(handle, "PQ" #function, f.function) && all
  GAPLESS_LIBPQ_FIND(connectdbParams);
  GAPLESS_LIBPQ_FIND(finish);
  GAPLESS_LIBPQ_FIND(reset);
  GAPLESS_LIBPQ_FIND(status);
  GAPLESS_LIBPQ_FIND(errorMessage);
  GAPLESS_LIBPQ_FIND(execParams);
  GAPLESS_LIBPQ_FIND(resultStatus);
  GAPLESS_LIBPQ_FIND(resultErrorField);
  GAPLESS_LIBPQ_FIND(clear);
  GAPLESS_LIBPQ_FIND(ntuples);
  GAPLESS_LIBPQ_FIND(nfields);
  GAPLESS_LIBPQ_FIND(ftype);
  GAPLESS_LIBPQ_FIND(getisnull);
  GAPLESS_LIBPQ_FIND(getvalue);
  GAPLESS_LIBPQ_FIND(getlength);
  GAPLESS_LIBPQ_FIND(unescapeBytea);
  GAPLESS_LIBPQ_FIND(freemem);
  GAPLESS_LIBPQ_FIND(setNoticeProcessor);
  GAPLESS_LIBPQ_FIND(transactionStatus);
#undef GAPLESS_LIBPQ_FIND
  if (!all)
    return Fail(ErrorCode::kEnvironment, "PostgreSQL's client library lacks functions that are needed", name,
                "install a newer libpq5");
  return f;
}

}  // namespace gapless::internal::postgres
