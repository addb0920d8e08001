// SPDX-License-Identifier: Apache-2.0
#include "serve/site.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/described_json.h"
#include "base/json_value.h"
#include "base/strings.h"
#include "base/version.h"
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
  return ReplyError(kNotFound, "not_found", "there is nothing at this address", "/api/site lists what there is");
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

// The part of this id; nullptr: there is none.
template <class Part>
Part* FindIn(const std::vector<std::unique_ptr<Part>>& all, std::string_view id) {
  const auto found = std::ranges::find(all, id, [](const auto& one) -> std::string_view { return one->id(); });
  return found == all.end() ? nullptr : found->get();
}

// The pages beside those of runs: all are one page, which asks the routes.
struct View {
  std::string_view name;  // of the parameter, too
  bool (*has)(const SiteParts& parts, std::string_view id);
};
constexpr View kViews[] = {
    {"monitor", [](const SiteParts& parts, std::string_view id) { return FindIn(parts.monitor, id) != nullptr; }},
    {"optimize", [](const SiteParts& parts, std::string_view id) { return FindIn(parts.optimize, id) != nullptr; }},
    {"history", [](const SiteParts& parts, std::string_view id) { return FindIn(parts.history, id) != nullptr; }},
};

HttpAnswer ReplyView(const HttpRequest& request, std::string_view name, std::string_view id) {
  std::string data;
  JsonWriter json(data);
  json.BeginObject();
  json.Field("view", name);
  json.Field("id", id);
  json.Field("version", kVersion);
  json.EndObject();
  ServedPage page = FilledPageToServe(PageWithCharts(), data);
  return ReplyPage(request, std::move(page.html), page.policy);
}

// The routes of the other parts. Absent: no part has this id.
using PartDocument = std::optional<Result<std::string>>;
struct PartRoute {
  std::string_view part, name;  // name: "" is that of the part itself
  PartDocument (*answer)(const HttpRequest& request, const SiteParts& parts, std::string_view id);
  bool walks = false;  // over a whole history
};
constexpr PartRoute kPartRoutes[] = {
    {"history", "",
     [](const HttpRequest&, const SiteParts& parts, std::string_view id) -> PartDocument {
       const ServedHistory* const history = FindIn(parts.history, id);
       return history == nullptr ? PartDocument() : history->SeriesJson();
     },
     true},
    {"history", "trend",
     [](const HttpRequest& request, const SiteParts& parts, std::string_view id) -> PartDocument {
       const ServedHistory* const history = FindIn(parts.history, id);
       return history == nullptr ? PartDocument() : history->TrendJson(request);
     },
     true},
    {"optimize", "",
     [](const HttpRequest&, const SiteParts& parts, std::string_view id) -> PartDocument {
       const ServedOptimize* const search = FindIn(parts.optimize, id);
       return search == nullptr ? PartDocument() : search->StateJson();
     }},
    {"optimize", "result",
     [](const HttpRequest&, const SiteParts& parts, std::string_view id) -> PartDocument {
       const ServedOptimize* const search = FindIn(parts.optimize, id);
       return search == nullptr ? PartDocument() : search->ResultJson();
     }},
    {"monitor", "",
     [](const HttpRequest&, const SiteParts& parts, std::string_view id) -> PartDocument {
       const ServedMonitor* const job = FindIn(parts.monitor, id);
       return job == nullptr ? PartDocument() : job->JobJson();
     }},
};

// Parts of the path: "api", the part, its id, and the name of the route.
const PartRoute* FindRoute(std::span<const std::string_view> parts) {
  if (parts.size() < 3 || parts.size() > 4) return nullptr;
  const std::string_view name = parts.size() == 4 ? parts[3] : "";
  if (parts.size() == 4 && name.empty()) return nullptr;
  const auto* const found = std::ranges::find_if(
      kPartRoutes, [&](const PartRoute& route) { return route.part == parts[1] && route.name == name; });
  return found == std::end(kPartRoutes) ? nullptr : found;
}

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

Site::Site(SiteParts parts, Gatekeeper gatekeeper, QueryLimits limits)
    : parts_(std::move(parts)), gatekeeper_(std::move(gatekeeper)), limits_(limits) {}

void Site::Prepare() {
  for (const auto& run : parts_.runs) {
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
  for (const View& view : kViews) {
    const std::string_view wanted = request.Parameter(view.name);
    if (!wanted.empty()) return view.has(parts_, wanted) ? ReplyView(request, view.name, wanted) : ReplyNotFound();
  }
  if (const std::string_view wanted = request.Parameter("run"); !wanted.empty()) {
    const Result<const ServedRun*> run = Find(wanted);
    if (!run) return ReplyError(run.error());
    return *run == nullptr ? ReplyNotFound() : PageOfRun(request, **run);
  }
  if (!parts_.runs.empty()) return PageOfRun(request, *parts_.runs.front());
  const auto* const first = std::ranges::find_if(kViews, [&](const View& view) { return view.has(parts_, "0"); });
  return first == std::end(kViews) ? ReplyNotFound() : ReplyView(request, first->name, "0");
}

HttpAnswer Site::PageOfRun(const HttpRequest& request, const ServedRun& run) {
  ServedPage page = FilledPageToServe(PageWithCharts(), run.PageJson());
  return ReplyPage(request, std::move(page.html), page.policy);
}

HttpAnswer Site::Api(const HttpRequest& request) {
  const std::vector<std::string_view> parts = Split(std::string_view(request.path).substr(1), '/');
  if (parts.size() < 2) return ReplyNotFound();
  if (parts[1] == "runs") return OfRuns(request, parts);
  const bool is_site = parts[1] == "site" && parts.size() == 2;
  const PartRoute* const route = is_site ? nullptr : FindRoute(parts);
  if (!is_site && route == nullptr) return ReplyNotFound();
  if (!IsReading(request)) return ReplyMethod("GET");
  if (is_site) return Reply(request, JsonOf(parts_.Site()));
  const Seat seat(route->walks ? &walk_ : nullptr);
  const auto document = route->answer(request, parts_, parts[2]);
  return document ? ReplyOr(request, *document) : ReplyNotFound();
}

HttpAnswer Site::OfRuns(const HttpRequest& request, std::span<const std::string_view> parts) {
  if (parts.size() == 3 || parts.size() > 4) return ReplyNotFound();
  if (parts.size() == 2)
    return IsReading(request) ? Reply(request, JsonOf(ServedRuns{parts_.Site().runs})) : ReplyMethod("GET");
  const Result<const ServedRun*> run = Find(parts[2]);
  if (!run) return ReplyError(run.error());
  return *run == nullptr ? ReplyNotFound() : OfRun(request, **run, parts[3]);
}

Result<const ServedRun*> Site::Find(std::string_view id) const {
  if (const ServedRun* run = FindIn(parts_.runs, id)) return run;
  for (const auto& job : parts_.monitor) {
    GAPLESS_ASSIGN(const ServedRun* const run, job->Open(id));
    if (run != nullptr) return run;
  }
  return nullptr;
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
  GAPLESS_ASSIGN(const ServedRun* const with, Find(request.Parameter("with")));
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
  return Reply(request, JsonOf(*answer));
}

}  // namespace gapless::internal
