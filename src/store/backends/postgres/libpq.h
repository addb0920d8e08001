// SPDX-License-Identifier: Apache-2.0
// PostgreSQL's client library, opened when it is first needed: the program itself does not depend on it.
#pragma once

#include <libpq-fe.h>

#include "base/result.h"

namespace gapless::internal::postgres {

// The functions that are used, called as in libpq-fe.h without "PQ", in small letters.
struct LibPq {
  decltype(&PQconnectdbParams) connectdb_params = nullptr;
  decltype(&PQfinish) finish = nullptr;
  decltype(&PQreset) reset = nullptr;
  decltype(&PQstatus) status = nullptr;
  decltype(&PQerrorMessage) error_message = nullptr;
  decltype(&PQexecParams) exec_params = nullptr;
  decltype(&PQresultStatus) result_status = nullptr;
  decltype(&PQresultErrorField) result_error_field = nullptr;
  decltype(&PQclear) clear = nullptr;
  decltype(&PQntuples) ntuples = nullptr;
  decltype(&PQnfields) nfields = nullptr;
  decltype(&PQftype) ftype = nullptr;
  decltype(&PQgetisnull) getisnull = nullptr;
  decltype(&PQgetvalue) getvalue = nullptr;
  decltype(&PQgetlength) getlength = nullptr;
  decltype(&PQunescapeBytea) unescape_bytea = nullptr;
  decltype(&PQfreemem) freemem = nullptr;
  decltype(&PQsetNoticeProcessor) set_notice_processor = nullptr;
  decltype(&PQtransactionStatus) transaction_status = nullptr;
};

// Opens the library, which is never closed again. An error of the environment names the package to install.
Result<LibPq> OpenLibPq(const char* name = "libpq.so.5");

}  // namespace gapless::internal::postgres
