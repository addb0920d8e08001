// SPDX-License-Identifier: Apache-2.0
// Finds secrets by the forms that their issuers give them: prefixes of keys (sk-, hf_, ghp_, AKIA), bearer tokens,
// private keys in PEM, passwords in URLs, web hooks. Each form is one expression; some need a digit, because words
// could have the same letters.
#include "base/redact/shapes.h"

#include <algorithm>
#include <array>

#include "base/pattern.h"

namespace gapless::internal {
namespace {

// Each has its secret in the first group. What stands before a key is no part of a word.
constexpr std::string_view kKeys =
    R"((?:^|[^A-Za-z0-9_-]))"
    R"((sk-[A-Za-z0-9_-]{20,}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,})"
    R"(|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abeoprs]-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16})"
    R"(|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}|nvapi-[A-Za-z0-9_-]{30,})"
    R"(|gsk_[A-Za-z0-9]{30,}|r8_[A-Za-z0-9]{30,}|dckr_pat_[A-Za-z0-9_-]{20,}|dop_v1_[a-f0-9]{40,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})"
    R"(|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?))";
// The rest of the known prefixes, of which the first list would grow beyond what one expression may take.
constexpr std::string_view kMoreKeys =
    R"((?:^|[^A-Za-z0-9_-]))"
    R"((gl(?:dt|ptt|rt|rtr|cbt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_.-]{16,}|xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-z0-9]+)"
    R"(|do[or]_v1_[a-f0-9]{40,}|A(?:BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}|LTAI[A-Za-z0-9]{16,}|ABSK[A-Za-z0-9+/=]{40,}|GOCSPX-[A-Za-z0-9_-]{20,})"
    R"(|hv[sb]\.[A-Za-z0-9_-]{24,}|dapi[a-f0-9]{32}|dp\.[a-z]{2,5}\.[A-Za-z0-9]{40,}|gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}|sntry[su]_[A-Za-z0-9+/=_-]{40,})"
    R"(|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|sq0[a-z]{3}-[A-Za-z0-9_-]{22,}|xkeysib-[a-f0-9]{40,}|key-[a-f0-9]{32}|pul-[a-f0-9]{40}|PMAK-[a-f0-9]{24}-[a-f0-9]{34})"
    R"(|NR(?:AK|II|JS|AL)-[A-Za-z0-9_-]{19,}|ATATT3[A-Za-z0-9_=-]{40,}|AGE-SECRET-KEY-1[A-Z0-9]{50,}|lin_api_[A-Za-z0-9]{30,}|ntn_[A-Za-z0-9]{30,})"
    R"(|rubygems_[a-f0-9]{40,}|pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_=.-]{30,}|sgp_[A-Za-z0-9_-]{30,}|dckr_oat_[A-Za-z0-9_-]{20,}|api_org_[A-Za-z0-9]{30,})"
    R"(|wandb_v1_[A-Za-z0-9_-]{30,}|pplx-[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{40,}|tgp_v1_[A-Za-z0-9_-]{30,}|lsv2_[a-z]{2}_[A-Za-z0-9_]{30,}|pcsk_[A-Za-z0-9_]{30,})"
    R"(|rpa_[A-Z0-9]{30,}|tvly-[A-Za-z0-9-]{20,}|jina_[A-Za-z0-9_-]{40,}|fw_[A-Za-z0-9]{22,}|csk-[a-z0-9]{30,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{33}))";
// Nothing else begins like these, so that they need no digit: keys of Hugging Face are letters alone.
constexpr std::string_view kCertain =
    R"((?:^|[^A-Za-z0-9_-])(glpat-[A-Za-z0-9_.-]{16,}|gh[pousr]_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{30,}))";
// The password that MySQL's programs, sshpass, MongoDB's and redis-cli take with -p or -a, in the line of a shell.
// The words after sshpass's own options are another program's: "sshpass -e ssh -p2222". -p3306:3306 is a port of a
// container.
constexpr std::string_view kAttached =
    R"((?:^|[\s/'";|&(])(?:sshpass\s+(?:-[A-Za-z]+\s+)*-p\s*|redis-cli\s(?:[^;|&\n]*?\s)?-a\s*)"
    R"(|(?:mysql[a-z]*|mariadb(?:-[a-z]+)?|mongo[a-z]*)\s(?:[^;|&\n]*?\s)?-p)['"]?)"
    R"(([0-9]+|[0-9]*[^0-9:\s'"$;|&)<][^\s'"$;|&)]*)(?:[\s'";|&)]|$))";
constexpr std::string_view kBearer = R"((?i)\bbearer\s+([A-Za-z0-9._~+/=-]{16,}))";
constexpr std::string_view kPem =
    R"((?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)))";
constexpr std::string_view kPassword = R"([A-Za-z][A-Za-z0-9+.-]*://[^\s/@:'"]*:([^\s/'"$][^\s/'"]*)@)";
constexpr std::string_view kUser = R"([A-Za-z][A-Za-z0-9+.-]*://([A-Za-z0-9_-]{16,})@)";
constexpr std::string_view kHook = R"(hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/_-]{8,}))";
constexpr std::string_view kLogin = R"(\bwandb\s+login\s+(?:--\S+\s+)*([A-Za-z0-9_-]{32,}))";

struct Shape {
  Pattern pattern;
  bool needs_digit;  // words could have the same letters
};

std::vector<Shape> MakeShapes() {
  std::vector<Shape> shapes;
  for (const auto& [expression, needs_digit] : {std::pair(kKeys, true),
                                                {kMoreKeys, true},
                                                {kCertain, false},
                                                {kAttached, false},
                                                {kBearer, true},
                                                {kPem, false},
                                                {kPassword, false},
                                                {kUser, true},
                                                {kHook, false},
                                                {kLogin, true}})
    if (auto pattern = Pattern::Make(expression, "shapes of secrets"))
      shapes.push_back({std::move(*pattern), needs_digit});
  return shapes;
}

}  // namespace

std::vector<std::pair<size_t, size_t>> SecretShapes(std::string_view text) {
  static const std::vector<Shape>& shapes = *new std::vector<Shape>(MakeShapes());
  std::vector<std::pair<size_t, size_t>> found;
  for (const Shape& shape : shapes)
    shape.pattern.ForEach(text, [&](std::string_view secret) {
      const auto digit = [](char c) { return c >= '0' && c <= '9'; };
      if (shape.needs_digit && std::ranges::none_of(secret, digit)) return;
      const size_t begin = static_cast<size_t>(secret.data() - text.data());
      found.emplace_back(begin, begin + secret.size());
    });
  return found;
}

}  // namespace gapless::internal
