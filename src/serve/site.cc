// SPDX-License-Identifier: Apache-2.0
#include "serve/site.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/described_json.h"
#include "base/json_value.h"
#include "base/strings.h"
#include "report/page.h"
#include "report/why/report.h"
#include "serve/reply.h"
#include "serve/routes.h"

namespace gapless::internal {
namespace {

constexpr int kSeeOther = 303, kUnauthorized = 401, kForbidden = 403, kNotFound = 404, kMethodNotAllowed = 405;
constexpr int kMisdirected = 421, kBusy = 503;

HttpAnswer ReplyRefused(Gatekeeper::Refusal refusal) {
  switch (refusal) {
    case Gatekeeper::Refusal::kForeignHost:
      return ReplyError(kMisdirected, "foreign_host", "this server does not go by that name",
                        "ask for localhost, or start it with --host NAME");
    case Gatekeeper::Refusal::kForeignOrigin:
      return ReplyError(kForbidden, "foreign_origin", "only this server's own page may ask", "");
    case Gatekeeper::Refusal::kNoToken: break;
  }
  HttpAnswer answer = ReplyError(kUnauthorized, "no_token", "the token is missing, or another one",
                                 "open the address that `gapless serve` printed, which holds it");
  answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  return answer;
}

HttpAnswer ReplyNotFound() {
  return ReplyError(kNotFound, "not_found", "there is nothing at this address", "/api/runs lists what there is");
}

HttpAnswer ReplyMethod(const char* allowed) {
  HttpAnswer answer = ReplyError(kMethodNotAllowed, "method", StrCat("only ", allowed, " is answered here"));
  answer.allow = allowed;
  return answer;
}

bool IsReading(const HttpRequest& request) { return request.method == "GET" || request.method == "HEAD"; }

HttpAnswer ReplyOr(const HttpRequest& request, Result<std::string> document) {
  return document ? Reply(request, *std::move(document)) : ReplyError(document.error());
}

struct Route {
  std::string_view name;
  Result<std::string> (*answer)(const HttpRequest& request, const ServedRun& run);
  bool walks = false;  // over whole recordings
};
constexpr Route kRoutes[] = {
    {"report", [](const HttpRequest&, const ServedRun& run) -> Result<std::string> { return run.PageJson(); }},
    {"timeline", TimelineRoute},
    {"tile", TileRoute},
    {"search", SearchRoute, true},
    {"event", EventRoute, true},
    {"selection", SelectionRoute, true},
};

// Holds one of the places of a semaphore.
template <class Semaphore>
class Seat {
 public:
  explicit Seat(Semaphore* semaphore) : semaphore_(semaphore) {
    if (semaphore_ != nullptr) semaphore_->acquire();
  }
  ~Seat() {
    if (semaphore_ != nullptr) semaphore_->release();
  }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

 private:
  Semaphore* semaphore_;
};

struct QueryRequest {
  std::string sql{};
  static constexpr FieldInfo kFields[] = {Field<&QueryRequest::sql>("sql", "", "one statement that reads")};
};

}  // namespace

Site::Site(std::vector<std::unique_ptr<ServedRun>> runs, Gatekeeper gatekeeper, QueryLimits limits)
    : runs_(std::move(runs)), gatekeeper_(std::move(gatekeeper)), limits_(limits) {}

void Site::Prepare() {
  for (const auto& run : runs_) {
    if (stop_) return;
    (void)run->lanes().traces();
    if (stop_) return;
    (void)run->PageJson();
  }
}

HttpAnswer Site::Answer(const HttpRequest& request) {
  if (const auto refusal = gatekeeper_.Refuse(request)) return ReplyRefused(*refusal);
  if (request.path == "/") return IsReading(request) ? Page(request) : ReplyMethod("GET");
  if (request.path.starts_with("/api/")) return Api(request);
  return ReplyNotFound();
}

// Whoever brings the token in the address gets it as a cookie, and an address without it: what stands in the address
// bar is copied, and kept by the browser.
HttpAnswer Site::Page(const HttpRequest& request) {
  if (gatekeeper_.BringsToken(request)) {
    HttpAnswer answer{.status = kSeeOther, .content_type = "text/plain; charset=utf-8", .body = "", .allow = ""};
    answer.headers = {
        {"Location", "/"},
        {"Cache-Control", "no-store"},
        {"Set-Cookie", StrCat(kTokenCookie, "=", gatekeeper_.token(), "; Path=/; HttpOnly; SameSite=Strict")}};
    return answer;
  }
  const std::string_view wanted = request.Parameter("run");
  const ServedRun* run = wanted.empty() ? runs_.front().get() : Find(wanted);
  if (run == nullptr) return ReplyNotFound();
  ServedPage page = FilledPageToServe(PageWithCharts(), run->PageJson());
  return ReplyPage(request, std::move(page.html), page.policy);
}

HttpAnswer Site::Api(const HttpRequest& request) {
  const std::vector<std::string_view> parts = Split(std::string_view(request.path).substr(1), '/');
  if (parts.size() < 2 || parts[1] != "runs" || parts.size() == 3 || parts.size() > 4) return ReplyNotFound();
  if (parts.size() == 2) {
    if (!IsReading(request)) return ReplyMethod("GET");
    ServedRuns list;
    for (const auto& run : runs_) list.runs.push_back(run->Info());
    std::string out;
    JsonWriter json(out);
    WriteJson(json, list);
    return Reply(request, std::move(out));
  }
  const ServedRun* run = Find(parts[2]);
  return run == nullptr ? ReplyNotFound() : OfRun(request, *run, parts[3]);
}

const ServedRun* Site::Find(std::string_view id) const {
  const auto run = std::ranges::find(runs_, id, [](const auto& one) -> std::string_view { return one->id(); });
  return run == runs_.end() ? nullptr : run->get();
}

HttpAnswer Site::OfRun(const HttpRequest& request, const ServedRun& run, std::string_view route) {
  if (route == "compare") {
    if (!IsReading(request)) return ReplyMethod("GET");
    return ReplyOr(request, Compare(request, run));
  }
  if (route == "query") return request.method == "POST" ? Query(request, run) : ReplyMethod("POST");
  const auto* const found = std::ranges::find(kRoutes, route, &Route::name);
  if (found == std::end(kRoutes)) return ReplyNotFound();
  if (!IsReading(request)) return ReplyMethod("GET");
  const Seat seat(found->walks ? &walk_ : nullptr);
  return ReplyOr(request, found->answer(request, run));
}

// The document of `gapless why WITH RUN`.
Result<std::string> Site::Compare(const HttpRequest& request, const ServedRun& run) const {
  const ServedRun* with = Find(request.Parameter("with"));
  if (with == nullptr) return Fail(ErrorCode::kUsage, "the parameter with names no run that is served");
  WhyView view{.a_name = with->Info().path, .b_name = run.Info().path};
  GAPLESS_ASSIGN(view.a, StepLedgerOf(with->analysis().tables()));
  GAPLESS_ASSIGN(view.b, StepLedgerOf(run.analysis().tables()));
  GAPLESS_ASSIGN(view.difference, DifferenceOf(view.a, view.b));
  return WhyJson(view);
}

// A page of another site may send a form without asking first, but no JSON.
HttpAnswer Site::Query(const HttpRequest& request, const ServedRun& run) {
  if (!request.Header("content-type").starts_with("application/json"))
    return ReplyError(kForbidden, "content_type", "a query is sent as application/json", R"({"sql": "SELECT …"})");
  const auto asked = ReadJson<QueryRequest>(request.body);
  if (!asked) return ReplyError(asked.error());
  if (!query_.try_acquire_for(limits_.time))
    return ReplyError(kBusy, "busy", "other queries are still running", "ask again in some seconds");
  const auto release = [](auto* semaphore) { semaphore->release(); };
  const std::unique_ptr<decltype(query_), decltype(release)> held(&query_, release);
  auto answer = AnswerQuery(run.analysis().run(), run.analysis().tables(), asked->sql, limits_, stop_);
  if (!answer) return ReplyError(answer.error());
  std::string out;
  JsonWriter json(out);
  WriteJson(json, *answer);
  return Reply(request, std::move(out));
}

}  // namespace gapless::internal
