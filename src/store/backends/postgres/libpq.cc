// SPDX-License-Identifier: Apache-2.0
// Opens libpq at run time and looks up its functions, so that gapless runs without PostgreSQL. A library that lacks one
// of them is refused as a whole.
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
#define GAPLESS_LIBPQ_FIND(name, member) all = Find(handle, "PQ" #name, f.member) && all
  GAPLESS_LIBPQ_FIND(connectdbParams, connectdb_params);
  GAPLESS_LIBPQ_FIND(finish, finish);
  GAPLESS_LIBPQ_FIND(reset, reset);
  GAPLESS_LIBPQ_FIND(status, status);
  GAPLESS_LIBPQ_FIND(errorMessage, error_message);
  GAPLESS_LIBPQ_FIND(execParams, exec_params);
  GAPLESS_LIBPQ_FIND(resultStatus, result_status);
  GAPLESS_LIBPQ_FIND(resultErrorField, result_error_field);
  GAPLESS_LIBPQ_FIND(clear, clear);
  GAPLESS_LIBPQ_FIND(ntuples, ntuples);
  GAPLESS_LIBPQ_FIND(nfields, nfields);
  GAPLESS_LIBPQ_FIND(ftype, ftype);
  GAPLESS_LIBPQ_FIND(getisnull, getisnull);
  GAPLESS_LIBPQ_FIND(getvalue, getvalue);
  GAPLESS_LIBPQ_FIND(getlength, getlength);
  GAPLESS_LIBPQ_FIND(unescapeBytea, unescape_bytea);
  GAPLESS_LIBPQ_FIND(freemem, freemem);
  GAPLESS_LIBPQ_FIND(setNoticeProcessor, set_notice_processor);
  GAPLESS_LIBPQ_FIND(transactionStatus, transaction_status);
#undef GAPLESS_LIBPQ_FIND
  if (!all)
    return Fail(ErrorCode::kEnvironment, "PostgreSQL's client library lacks functions that are needed", name,
                "install a newer libpq5");
  return f;
}

}  // namespace gapless::internal::postgres
