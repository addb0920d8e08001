// SPDX-License-Identifier: Apache-2.0
// Names are compounds, and the last word is the noun: `token_dropout` is a dropout, `max_token_length` a length, and
// `hf_token` a token. So a name is cut into its words, at -_.: and where upper case begins, and judged by the last one
// and by what stands before it. Words that are secrets by themselves (password, secret) count anywhere, unless the last
// word says that the name is about something of theirs (password_file). The vocabulary of language models is full of
// tokens that are no secrets: they have a role before them (pad_token), are many (num_tokens), or have a number or
// brackets as value.
#include "base/redact/names.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/redact.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

using Words = std::vector<std::string>;

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return IsUpper(c) || IsLower(c); }
std::string InLowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = Lower(c);
  return lower;
}

template <size_t count>
bool IsIn(const std::string_view (&list)[count], std::string_view word) {
  return std::ranges::find(list, word) != std::end(list);
}

constexpr std::string_view kSecretWords[] = {"password",    "passwords",     "passwd",  "passphrase",
                                             "passcode",    "secret",        "secrets", "credential",
                                             "credentials", "authorization", "apikey",  "apikeys"};
// Only as the last word: a cookie jar is a file.
constexpr std::string_view kSecretLast[] = {"pwd", "pw", "cookie", "cookies", "bearer", "jwt", "dsn", "connstr"};
constexpr std::string_view kSecretEnds[] = {"password",  "passwd",      "passphrase",   "apikey",
                                            "secretkey", "accesskey",   "privatekey",   "authtoken",
                                            "apitoken",  "accesstoken", "clientsecret", "sshpass"};
// A name that ends in one of these words describes something else than a secret.
constexpr std::string_view kAbout[] = {
    "file",     "files",   "path",    "paths",    "dir",       "directory", "folder",  "env",      "var",
    "variable", "name",    "names",   "len",      "length",    "size",      "min",     "max",      "count",
    "num",      "number",  "policy",  "type",     "types",     "mode",      "manager", "store",    "backend",
    "provider", "url",     "uri",     "endpoint", "host",      "port",      "prompt",  "required", "enabled",
    "field",    "column",  "index",   "idx",      "id",        "ids",       "format",  "version",  "rotation",
    "ttl",      "expiry",  "timeout", "regex",    "pattern",   "method",    "scheme",  "strategy", "level",
    "suffix",   "hint",    "source",  "location", "region",    "ref",       "dim",     "dims",     "limit",
    "rate",     "sharing", "scanner", "scanning", "detection", "threshold", "engine",  "class",    "check",
    "error",    "loss",    "jar"};
// Before "key".
constexpr std::string_view kKeyOwners[] = {
    "api",          "secret",      "private",  "access",    "auth",     "encryption", "signing",     "account",
    "subscription", "license",     "licence",  "master",    "storage",  "consumer",   "hmac",        "wandb",
    "hf",           "huggingface", "openai",   "anthropic", "comet",    "neptune",    "clearml",     "aws",
    "azure",        "gcp",         "google",   "mistral",   "cohere",   "replicate",  "groq",        "langsmith",
    "pinecone",     "minio",       "sentry",   "datadog",   "roboflow", "kaggle",     "ultralytics", "deploy",
    "admin",        "gemini",      "deepseek", "xai",       "together", "fireworks",  "perplexity",  "tavily",
    "stripe",       "sendgrid",    "twilio",   "runpod",    "ngc",      "fernet"};
// Before "token": what it does in a sequence.
constexpr std::string_view kTokenRoles[] = {
    "pad",       "padding",   "eos",      "bos",     "unk",         "unknown",     "mask",         "sep",
    "separator", "cls",       "special",  "image",   "img",         "video",       "audio",        "stop",
    "start",     "end",       "begin",    "prompt",  "placeholder", "initializer", "initializing", "trigger",
    "per",       "next",      "last",     "first",   "new",         "sos",         "class",        "instance",
    "dummy",     "blank",     "language", "lang",    "task",        "domain",      "think",        "thinking",
    "system",    "assistant", "role",     "tool",    "vision",      "speech",      "text",         "word",
    "modifier",  "num",       "max",      "min",     "every",       "learnable",   "virtual",      "target",
    "source",    "src",       "tgt",      "decoder", "encoder",     "query",       "register",     "patch",
    "object",    "concept",   "style",    "subject", "timestamp",   "return",      "sub",          "ignore",
    "split",     "each",      "one",      "byte",    "fill",        "extra",       "additional",   "forced",
    "suppress",  "distill",   "draft",    "sink",    "control",     "content"};
// Before "pass".
constexpr std::string_view kPassOwners[] = {
    "db",    "database", "user",   "admin",  "root",   "default",  "mysql", "pg",       "psql", "postgres",
    "mongo", "redis",    "sql",    "smtp",   "mail",   "email",    "imap",  "ftp",      "sftp", "ssh",
    "sudo",  "proxy",    "http",   "https",  "login",  "auth",     "vpn",   "rabbitmq", "mqtt", "ldap",
    "bind",  "registry", "docker", "github", "gitlab", "keystore", "key"};
// Values of "--auth": ways to authenticate, no secrets.
constexpr std::string_view kAuthKinds[] = {"password",
                                           "token",
                                           "key",
                                           "cert",
                                           "certificate",
                                           "x509",
                                           "mtls",
                                           "sasl",
                                           "scram",
                                           "md5",
                                           "sha256",
                                           "gss",
                                           "gssapi",
                                           "negotiate",
                                           "ntlm",
                                           "peer",
                                           "ident",
                                           "trust",
                                           "simple",
                                           "local",
                                           "anonymous",
                                           "session",
                                           "cookie",
                                           "saml",
                                           "sso",
                                           "openid",
                                           "oidc",
                                           "pam",
                                           "pki",
                                           "browser",
                                           "device",
                                           "interactive",
                                           "web",
                                           "aws",
                                           "azure",
                                           "gcp",
                                           "google",
                                           "github",
                                           "gitlab",
                                           "kubernetes",
                                           "service",
                                           "user",
                                           "plain",
                                           "enabled",
                                           "disabled",
                                           "scram-sha-1",
                                           "scram-sha-256",
                                           "scram-sha-512",
                                           "service-account",
                                           "service_account",
                                           "api-key",
                                           "api_key",
                                           "apikey"};
constexpr std::string_view kManyOwners[] = {"api", "access", "auth", "refresh", "bearer", "hf"};  // before "tokens"
constexpr std::string_view kNotValues[] = {
    "none",     "null",  "nil",     "true", "false",       "yes",    "no",      "on",        "off",    "required",
    "optional", "auto",  "default", "env",  "environment", "prompt", "stdin",   "undefined", "basic",  "bearer",
    "digest",   "oauth", "oauth2",  "jwt",  "kerberos",    "ldap",   "iam",     "ssl",       "tls",    "str",
    "string",   "int",   "float",   "bool", "inherit",     "unset",  "missing", "invalid",   "expired"};

// Cuts a name into its words, in lower case: "HFToken2" is "hf", "token".
Words WordsOf(std::string_view name) {
  Words words;
  std::string word;
  const auto end = [&] {
    // "password2", "token_1".
    while (!word.empty() && IsDigit(word.back())) word.pop_back();
    if (!word.empty()) words.push_back(InLowerCase(word));
    word.clear();
  };
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!IsLetter(c) && !IsDigit(c)) {
      end();
      continue;
    }
    const bool after_lower = i > 0 && IsLower(name[i - 1]);
    const bool last_of_capitals = i > 0 && IsUpper(name[i - 1]) && i + 1 < name.size() && IsLower(name[i + 1]);
    if (IsUpper(c) && (after_lower || last_of_capitals)) end();
    word += c;
  }
  end();
  return words;
}

NameKind KindOfKey(std::string_view owner) { return IsIn(kKeyOwners, owner) ? NameKind::kSecret : NameKind::kOpaque; }

bool IsNumber(std::string_view value) {
  return !value.empty() && value.find_first_not_of("0123456789.,_-+eExX") == value.npos &&
         std::ranges::any_of(value, IsDigit);
}

bool IsPath(std::string_view value) {
  constexpr std::string_view kEndings[] = {".py",  ".json", ".yaml", ".yml", ".txt",   ".pem",  ".key",
                                           ".crt", ".env",  ".toml", ".ini", ".cfg",   ".conf", ".npz",
                                           ".npy", ".pt",   ".csv",  ".sh",  ".model", ".cnf"};
  if (std::ranges::any_of(kEndings, [&](std::string_view ending) { return value.ends_with(ending); })) return true;
  return value.starts_with("./") || value.starts_with("../") || value.starts_with("~/");
}

// It names where the value comes from: $TOKEN, ${oc.env:TOKEN}, $(cat file), os.environ[…], args.token, HF_TOKEN.
bool IsReference(std::string_view name, std::string_view value) {
  if (value.starts_with('$') || value.starts_with('%') || value.starts_with('`') || value.starts_with("{{"))
    return true;
  const size_t letters = value.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.");
  if (letters != value.npos) return letters > 0 && (value[letters] == '(' || value[letters] == '[');
  if (value == name) return true;
  const bool capitals = std::ranges::none_of(value, IsLower) && value.find('.') == value.npos;
  const bool dotted = value.find('.') != value.npos;
  return (capitals || dotted) && KindOf(value) != NameKind::kPlain;
}

bool IsNoValue(std::string_view name, std::string_view value) {
  if (value.empty() || value.starts_with(kRedacted) || value.find_first_not_of("*.-") == value.npos) return true;
  return IsIn(kNotValues, InLowerCase(value)) || IsReference(name, value);
}

// Letters and digits without an order that a person would give them.
bool IsOpaque(std::string_view value, size_t least) {
  size_t run = 0;
  bool letter = false, digit = false;
  for (const char c : value) {
    if (!IsLetter(c) && !IsDigit(c)) {
      run = 0, letter = digit = false;
      continue;
    }
    letter = letter || IsLetter(c);
    digit = digit || IsDigit(c);
    if (++run >= least && letter && digit) return true;
  }
  return false;
}

// Returns true if the value may be a token of an account. In prose it must look random or be long, since "token:
// the" is ordinary text.
bool IsTokenValue(std::string_view value, ValueContext context) {
  const char first = value.front();
  if (IsNumber(value) || IsPath(value) || first == '<' || first == '[' || first == '{' || first == '|' || first == '(')
    return false;
  return context == ValueContext::kOption || IsOpaque(value, 8) ||
         (value.size() >= 20 && value.find('/') == value.npos);
}

}  // namespace

NameKind KindOf(std::string_view name) {
  const Words words = WordsOf(name);
  if (words.empty() || words.front() == "no") return NameKind::kPlain;
  const std::string& last = words.back();
  const std::string before = words.size() > 1 ? words[words.size() - 2] : "";
  if (IsIn(kAbout, last)) return NameKind::kPlain;
  const auto ends = [](const std::string& word) {
    return std::ranges::any_of(kSecretEnds, [&](std::string_view text) { return word.ends_with(text); });
  };
  if (std::ranges::any_of(words, [&](const std::string& word) { return IsIn(kSecretWords, word) || ends(word); }) ||
      IsIn(kSecretLast, last) || (last == "string" && before == "connection"))
    return NameKind::kSecret;
  if (last == "key" || last == "keys") return KindOfKey(before);
  if (last == "token") return IsIn(kTokenRoles, before) ? NameKind::kPlain : NameKind::kToken;
  if (last == "tokens" && IsIn(kManyOwners, before)) return NameKind::kToken;
  if (last == "pat" && words.size() > 1) return NameKind::kToken;
  if (last == "auth") return NameKind::kToken;
  if (last == "pass" && words.size() == 1) return NameKind::kToken;
  if (last == "pass" && IsIn(kPassOwners, before)) return NameKind::kSecret;
  if (last == "pass" || last == "sig" || last == "signature" || last == "sas") return NameKind::kOpaque;
  return NameKind::kPlain;
}

bool IsSecretValue(NameKind kind, std::string_view name, std::string_view value, ValueContext context) {
  if (kind == NameKind::kPlain || IsNoValue(name, value)) return false;
  switch (kind) {
    case NameKind::kOpaque: return IsOpaque(value, 16) && !IsPath(value);
    case NameKind::kToken:
      return IsTokenValue(value, context) && !(WordsOf(name).back() == "auth" && IsIn(kAuthKinds, InLowerCase(value)));
    case NameKind::kSecret:
      // The folder that a shell is in, and the file that holds the secret.
      return !IsPath(value) && !(value.starts_with('/') && InLowerCase(name).ends_with("pwd"));
    case NameKind::kPlain: break;
  }
  return false;
}

bool IsSecretName(std::string_view name) {
  const NameKind kind = KindOf(name);
  return kind == NameKind::kSecret || kind == NameKind::kToken;
}

}  // namespace gapless::internal
