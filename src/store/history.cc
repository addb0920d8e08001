// SPDX-License-Identifier: Apache-2.0
// Implements History on any database: opens a URL with the matching backend, migrates the tables, and records runs in
// one transaction.
//
// Records are checked before the transaction begins, so that bad input costs no connection. A uid is a random number or
// the digest of a row (transfer.cc); the database refuses a second record of the same uid, which makes it safe to
// repeat a transaction whose outcome is unknown.
#include "store/history.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "base/random_bytes.h"
#include "base/strings.h"
#include "store/migrations.h"
#include "store/rows.h"
#include "store/transaction.h"

namespace gapless::internal {
namespace {

std::string Hexadecimal(uint64_t high, uint64_t low) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const uint64_t half : {high, low})
    for (int shift = 60; shift >= 0; shift -= 4) out += kDigits[(half >> shift) & 15];
  return out;
}

// Returns the backend with a prefix of the URL; null for other prefixes.
const Backend* FindBackend(std::string_view url) {
  for (const Backend* backend : AllBackends())
    for (const std::string_view prefix : backend->prefixes)
      if (url.starts_with(prefix)) return backend;
  return nullptr;
}

Result<History> NoHistory(const std::string& place) {
  return Fail(ErrorCode::kInput, StrCat("cannot read ", place, ": there is no history"), place,
              "check the path; `gapless history record` and `import` begin a history");
}

}  // namespace

// Aborts if the kernel gives no random numbers: of two records with equal uids the second would be dropped.
std::string NewUid() {
  uint64_t halves[2] = {};
  if (!FillWithRandom(std::as_writable_bytes(std::span(halves)))) std::abort();
  return Hexadecimal(halves[0], halves[1]);
}

// Hashes each text with its length before it, so that ("ab", "c") and ("a", "bc") differ.
std::string DigestOf(std::span<const std::string> texts) {
  std::string all;
  for (const std::string& text : texts) all += StrCat(text.size(), ":", text);
  const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  return Hexadecimal(hash.high64, hash.low64);
}

// Removes a password from "user:password@" and from the parameter password=. A URL that is odd is left as it is.
std::string WithoutPassword(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::string(url);
  const size_t start = scheme + 3, slash = std::min(url.find_first_of("/?", start), url.size());
  std::string out(url);
  const size_t at = url.substr(0, slash).rfind('@');
  if (at != std::string_view::npos && at > start) {
    const size_t colon = url.substr(0, at).find(':', start);
    if (colon != std::string_view::npos) out = StrCat(url.substr(0, colon), url.substr(at));
  }
  const size_t parameter = out.find("password=");
  if (parameter != std::string::npos) {
    const size_t value = parameter + std::string_view("password=").size();
    out = StrCat(out.substr(0, value), "…", out.substr(std::min(out.find('&', value), out.size())));
  }
  return out;
}

std::string History::DefaultUrl() {
  const char* const data = std::getenv("XDG_DATA_HOME");  // NOLINT(concurrency-mt-unsafe): nothing sets it
  if (data != nullptr && data[0] == '/') return StrCat("sqlite:", data, "/gapless/history.db");
  const char* const home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
  if (home == nullptr || home[0] == '\0') return "";
  return StrCat("sqlite:", home, "/.local/share/gapless/history.db");
}

// Connects without migrating. A URL without "://" and without a known prefix is the path of a file.
Result<std::unique_ptr<Connection>> History::Connect(const std::string& url, Access access) {
  if (url.empty())
    return Fail(ErrorCode::kEnvironment, "there is no folder for the history: HOME is not set", "",
                "name one: --db sqlite:history.db");
  const Backend* backend = FindBackend(url);
  if (backend == nullptr && url.find("://") == std::string::npos) backend = FindBackend("sqlite:");
  if (backend != nullptr) return backend->open(url, access);
  std::vector<std::string> known;
  for (const Backend* each : AllBackends())
    for (const std::string_view prefix : each->prefixes) known.emplace_back(prefix);
  return Fail(ErrorCode::kUsage, "the URL of a history begins with the kind of its database", WithoutPassword(url),
              "there are: " + Join(known, ", "));
}

// A database without tables of a history is absent, too, unless it is opened to create them: a history is never made in
// a file that is only looked at. Without a connection the history is absent.
Result<History> History::OpenFor(std::string_view url, Access access) {
  const std::string chosen = url.empty() ? DefaultUrl() : std::string(url);
  GAPLESS_ASSIGN(auto connection, Connect(chosen, access));
  std::string place = WithoutPassword(chosen);
  const auto fail_at_place = [&](Error error) {
    if (error.place.empty()) error.place = place;
    return Unexpected{std::move(error)};
  };
  if (connection != nullptr && access != Access::kCreate) {
    const auto version = SchemaVersion(*connection);
    if (!version) return fail_at_place(version.error());
    if (*version == 0) connection.reset();
  }
  if (connection != nullptr)
    if (auto migrated = Migrate(*connection); !migrated) {
      // A history that this user may only read stays as an older gapless made it, and is read so.
      const auto version = SchemaVersion(*connection);
      if (access != Access::kRead || !version || *version < kReadableSince || *version >= kLedgerSince)
        return fail_at_place(migrated.error());
    }
  return History(std::move(connection), std::move(place));
}

Result<History> History::Open(std::string_view url) { return OpenFor(url, Access::kCreate); }

Result<History> History::OpenToChange(std::string_view url) {
  auto history = OpenFor(url, Access::kChange);
  return history && history->is_absent() ? NoHistory(history->place()) : std::move(history);
}

Result<History> History::OpenToRead(std::string_view url, IfAbsent if_absent) {
  auto history = OpenFor(url, Access::kRead);
  const bool may_be_absent = url.empty() || if_absent == IfAbsent::kEmpty;
  return history && history->is_absent() && !may_be_absent ? NoHistory(history->place()) : std::move(history);
}

// Checks all records first: one that is refused leaves none of them in the database.
Result<std::vector<Recorded>> History::RecordAll(std::span<const BenchmarkRecord> records) {
  std::vector<BenchmarkRecord> prepared;
  for (const BenchmarkRecord& record : records) {
    GAPLESS_ASSIGN(auto one, Prepared(record));
    prepared.push_back(std::move(one));
  }
  return InTransaction<std::vector<Recorded>>(*connection_, [&] { return InsertRecords(*connection_, prepared); });
}

Result<Recorded> History::Record(const BenchmarkRecord& record) {
  const auto recorded = RecordAll({&record, 1});
  return recorded ? Result<Recorded>(recorded->front()) : Unexpected{recorded.error()};
}

// Prepares the verdict inside an otherwise empty record, so that both ways of storing one check the same.
Result<void> History::AddVerdict(int64_t id, const VerdictRecord& verdict) {
  BenchmarkRecord around;
  around.verdicts.push_back(verdict);
  GAPLESS_ASSIGN(const auto prepared, Prepared(std::move(around)));
  const auto done = InTransaction<bool>(*connection_, [&]() -> Result<bool> {
    const SqlCell key[] = {id};
    GAPLESS_ASSIGN(const auto there, connection_->Run("SELECT 1 FROM run WHERE id = $1", key));
    if (there.empty()) return Fail(ErrorCode::kInput, StrCat("the history has no run ", id), place_);
    GAPLESS_TRY(InsertVerdict(*connection_, id, prepared.verdicts.front()));
    return true;
  });
  return done ? Result<void>() : Unexpected{done.error()};
}

// A read-only transaction, so that pages which are read one after the other belong to one state.
Result<void> History::Visit(const HistoryFilter& filter,
                            const std::function<Result<void>(const BenchmarkRecord&)>& visitor) {
  if (is_absent()) return {};
  if (connection_->lost()) GAPLESS_TRY(connection_->Reconnect());
  GAPLESS_TRY(connection_->Begin(Purpose::kRead));
  auto done = VisitRecords(*connection_, filter, visitor);
  // Nothing was written; the transaction only held one state of the database.
  connection_->Rollback();
  return done;
}

Result<std::vector<BenchmarkRecord>> History::List(const HistoryFilter& filter) {
  std::vector<BenchmarkRecord> records;
  GAPLESS_TRY(Visit(filter, [&](const BenchmarkRecord& record) -> Result<void> {
    records.push_back(record);
    return {};
  }));
  return records;
}

}  // namespace gapless::internal
