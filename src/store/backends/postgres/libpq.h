// SPDX-License-Identifier: Apache-2.0
// PostgreSQL's client library, opened when it is first needed: the program itself does not depend on it.
#pragma once

#include <libpq-fe.h>

#include "base/result.h"

namespace gapless::internal::postgres {

// The functions that are used, called as in libpq-fe.h without "PQ".
struct LibPq {
  decltype(&PQconnectdbParams) connectdbParams = nullptr;
  decltype(&PQfinish) finish = nullptr;
  decltype(&PQreset) reset = nullptr;
  decltype(&PQstatus) status = nullptr;
  decltype(&PQerrorMessage) errorMessage = nullptr;
  decltype(&PQexecParams) execParams = nullptr;
  decltype(&PQresultStatus) resultStatus = nullptr;
  decltype(&PQresultErrorField) resultErrorField = nullptr;
  decltype(&PQclear) clear = nullptr;
  decltype(&PQntuples) ntuples = nullptr;
  decltype(&PQnfields) nfields = nullptr;
  decltype(&PQftype) ftype = nullptr;
  decltype(&PQgetisnull) getisnull = nullptr;
  decltype(&PQgetvalue) getvalue = nullptr;
  decltype(&PQgetlength) getlength = nullptr;
  decltype(&PQunescapeBytea) unescapeBytea = nullptr;
  decltype(&PQfreemem) freemem = nullptr;
  decltype(&PQsetNoticeProcessor) setNoticeProcessor = nullptr;
  decltype(&PQtransactionStatus) transactionStatus = nullptr;
};

// Never closed again. An error of the environment names the package.
Result<LibPq> OpenLibPq(const char* name = "libpq.so.5");

}  // namespace gapless::internal::postgres
