// SPDX-License-Identifier: Apache-2.0
// The roles of a job of several programs: how busy each is, and for whom it waits.
#include "analyses/rows/roles.h"

#include <algorithm>

#include "base/strings.h"
#include "report/renderers/terminal/sections.h"

namespace gapless::internal {
namespace {

constexpr size_t kRoleColumns = 24;

std::string ShareOfWall(const RolesRows& roles, size_t row, RolesRows::IntColumn column) {
  const int64_t wall = roles.Int(row, "wall_ns");
  if (roles.IsNull(row, column) || wall <= 0) return "–";
  return FormatPercent(static_cast<double>(roles.Int(row, column)) / static_cast<double>(wall));
}

// "trainer 61.2 %, reward 10.0 %": those that work while the role idles, longest first.
std::string WaitsOf(const RoleWaitsRows& waits, std::string_view role) {
  std::vector<size_t> rows;
  for (size_t row = 0; row < waits.rows(); ++row)
    if (waits.IsNull(row, "iteration") && waits.Text(row, "role") == role) rows.push_back(row);
  std::ranges::stable_sort(rows, [&](size_t a, size_t b) { return waits.Int(a, "wait_ns") > waits.Int(b, "wait_ns"); });
  std::string text;
  for (const size_t row : rows)
    text += StrCat(text.empty() ? "" : ", ", Printable(waits.Text(row, "waits_for")), " ",
                   FormatPercent(waits.Real(row, "share")));
  return text;
}

}  // namespace

std::string RolesSection(const Report& report, const Paint& paint) {
  const auto roles = report.tables.Get<RolesRows>();
  if (roles.rows() < 2) return {};
  const auto waits = report.tables.Get<RoleWaitsRows>();
  std::string out = paint.In(Tone::kBold, PadRight("roles", kRoleColumns)) + PadLeft("processes", 10) +
                    PadLeft("GPUs", 6) + PadLeft("busy", 9) + PadLeft("waiting", 9) + "  idle while these work\n";
  for (size_t row = 0; row < roles.rows(); ++row) {
    const std::string name(Printable(roles.Text(row, "role")));
    out += StrCat("  ", PadRight(Ellipsize(name, kRoleColumns - 3), kRoleColumns - 2),
                  PadLeft(FormatCount(roles.Int(row, "processes")), 10),
                  PadLeft(FormatCount(roles.Int(row, "devices")), 6), PadLeft(ShareOfWall(roles, row, "busy_ns"), 9),
                  PadLeft(ShareOfWall(roles, row, "waiting_ns"), 9), "  ",
                  paint.In(Tone::kDim, WaitsOf(waits, roles.Text(row, "role"))), "\n");
  }
  return out;
}

}  // namespace gapless::internal
