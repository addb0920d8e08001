// SPDX-License-Identifier: Apache-2.0
// Finds values that belong to the names of secrets, and cuts them and other secrets out.
//
// Texts and command lines have names with values in many forms: --name=value, --name value, NAME=value, "name":
// "value", name: value, os.environ["NAME"] = "value", +group.name=value, ?name=value&…. All of them are a name,
// what stands between, and a value: so one scanner looks for names that are worth it, and reads on from there by
// hand. Secrets with a known shape (redact/shapes.h) are added, and all stretches are cut out together.
//
// The rules lean to cutting out too much for names that are secrets for certain, and too little for words such as
// "token", which language models use for other things. Redacting is linear in the text, but for each name found,
// whose value is read once more.
#include "base/redact.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "base/pattern.h"
#include "base/redact/names.h"
#include "base/redact/shapes.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

using Stretch = std::pair<size_t, size_t>;

std::atomic<bool> keep_commands = false;

constexpr std::string_view kNames =
    R"(((?:--?)?[A-Za-z0-9_.-]*(?i:key|token|secret|pass|pwd?|credential|auth|bearer|cookie|dsn|jwt|sig|sas|pat|conn)[A-Za-z0-9_-]*))";

bool IsSpace(char c) { return c == ' ' || c == '\t'; }

// Reads on behind a name.
class Reading {
 public:
  // Behind text[begin, end).
  Reading(std::string_view text, size_t begin, size_t end)
      : text_(text), at_(end), is_bracketed_(begin > 0 && text[begin - 1] == '[') {}

  // Returns the value assigned to the name; nullopt if no value is assigned.
  std::optional<Stretch> Value(std::string_view name) {
    if (Is('\\')) ++at_;
    if (Is('"') || Is('\'')) ++at_;
    if (Is(']')) ++at_;
    const size_t before = at_;
    SkipSpace();
    const bool spaced = at_ > before;
    if (Is(':') || Is('=')) {
      is_field_ = Is(':');
      if (is_field_ && text_.substr(at_).starts_with("://")) return std::nullopt;
      while (Is(':') || Is('=') || Is('>')) ++at_;
      if (is_field_ || spaced) SkipSpace();
    } else if (!spaced || !name.starts_with('-') || Is('-')) {
      return std::nullopt;
    }
    return Quoted();
  }
  // In an HTTP header the rest of the line belongs to the value.
  Stretch ToLineEnd(Stretch value) const {
    return {value.first, std::min(text_.find_first_of("\r\n\"'", value.first), text_.size())};
  }
  // "Bearer abc": the word behind this one.
  Stretch NextWord(Stretch value) {
    at_ = value.second;
    SkipSpace();
    return Plain();
  }
  bool is_field() const { return is_field_; }

 private:
  bool Is(char c) const { return at_ < text_.size() && text_[at_] == c; }
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  Stretch Quoted() {
    const bool escaped = Is('\\') && at_ + 1 < text_.size() && (text_[at_ + 1] == '"' || text_[at_ + 1] == '\'');
    if (escaped) ++at_;
    if (!Is('"') && !Is('\'')) return Plain();
    const char quote = text_[at_++];
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != quote) at_ += !escaped && text_[at_] == '\\' ? 2 : 1;
    const size_t end = std::min(at_, text_.size());
    return {begin, escaped && end > begin && text_[end - 1] == '\\' ? end - 1 : end};
  }
  Stretch Plain() const {
    if (text_.substr(at_).starts_with(kRedacted)) return {at_, at_ + kRedacted.size()};
    std::string_view ends = is_field_ ? " \t\r\n\"';|&)},]" : " \t\r\n\"';|&)";
    if (is_bracketed_ && !is_field_) ends = " \t\r\n\"';|&)]";  // usage: [--token TOKEN]
    return {at_, std::min(text_.find_first_of(ends, at_), text_.size())};
  }

  std::string_view text_;
  size_t at_;
  bool is_bracketed_, is_field_ = false;
};

bool IsVariable(std::string_view name) {
  return std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
}

bool IsScheme(std::string_view word) {
  return EqualsIgnoreCase(word, "bearer") || EqualsIgnoreCase(word, "basic") || EqualsIgnoreCase(word, "token");
}

void FindAssigned(std::string_view text, std::vector<Stretch>& found) {
  static const Pattern& names = *new Pattern(*Pattern::Make(kNames, "names of secrets"));
  size_t done = 0;
  names.ForEach(text, [&](std::string_view name) {
    const size_t begin = static_cast<size_t>(name.data() - text.data());
    const NameKind kind = KindOf(name);
    if (begin < done || kind == NameKind::kPlain) return;
    Reading reading(text, begin, begin + name.size());
    auto value = reading.Value(name);
    if (!value) return;
    const auto word = text.substr(value->first, value->second - value->first);
    if (IsScheme(word)) {
      value = reading.NextWord(*value);
    } else if (reading.is_field() && (ContainsIgnoreCase(name, "cookie") || EqualsIgnoreCase(name, "authorization"))) {
      value = reading.ToLineEnd(*value);
    }
    const bool option = !reading.is_field() && (name.starts_with('-') || IsVariable(name));
    if (!IsSecretValue(kind, name, text.substr(value->first, value->second - value->first),
                       option ? ValueContext::kOption : ValueContext::kText))
      return;
    found.push_back(*value);
    done = value->second;
  });
}

// Returns the text with the mark in place of each stretch.
std::string Without(std::string_view text, std::vector<Stretch> stretches) {
  std::ranges::sort(stretches);
  std::string out;
  size_t at = 0;
  for (const auto& [begin, end] : stretches) {
    if (end <= at) continue;
    // Merges overlapping stretches.
    if (begin >= at) out.append(text.substr(at, begin - at)).append(kRedacted);
    at = end;
  }
  return out.append(text.substr(at));
}

// --- words of a command

std::string_view BaseName(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

// Programs whose short options take a password: "-p" of sshpass. With a colon: what stands behind it.
struct ShortOption {
  std::string_view program, option;
  bool after_colon = false;
  bool after_login = false;  // elsewhere the option is for something else, as for ports of containers
};
constexpr ShortOption kShort[] = {{"sshpass", "-p"},
                                  {"redis-cli", "-a"},
                                  {"docker", "-p", false, true},
                                  {"podman", "-p", false, true},
                                  {"az", "-p", false, true},
                                  {"curl", "-u", true},
                                  {"curl", "--user", true},
                                  {"curl", "-U", true},
                                  {"wget", "-u", true},
                                  {"http", "-a", true},
                                  {"https", "-a", true},
                                  {"ldapsearch", "-w"},
                                  {"mongo", "-p"},
                                  {"mongosh", "-p"},
                                  {"mongodump", "-p"},
                                  {"mongorestore", "-p"},
                                  {"zip", "-P"},
                                  {"unzip", "-P"},
                                  {"mosquitto_pub", "-P"},
                                  {"mosquitto_sub", "-P"}};
// Programs that take the password in the same word as the option.
constexpr ShortOption kInOneWord[] = {
    {"mysql", "-p"},      {"mysqldump", "-p"}, {"mysqladmin", "-p"}, {"mysqlimport", "-p"},  {"mysqlshow", "-p"},
    {"mysqlcheck", "-p"}, {"mysqlpump", "-p"}, {"mariadb", "-p"},    {"mariadb-dump", "-p"}, {"mariadb-admin", "-p"},
    {"sshpass", "-p"},    {"mongo", "-p"},     {"mongosh", "-p"},    {"mongodump", "-p"},    {"mongorestore", "-p"},
    {"7z", "-p"},         {"7za", "-p"},       {"redis-cli", "-a"},  {"curl", "-u", true}};

class CommandReader {
 public:
  explicit CommandReader(std::span<const std::string> command) : command_(command) {}

  std::string Word(size_t i) const {
    const std::string& word = command_[i];
    if (i > 0 && IsValueOf(command_[i - 1], word)) return std::string(kRedacted);
    if (auto out = ShortValue(i)) return *out;
    if (auto out = AttachedValue(i)) return *out;
    if (IsSetting(i)) return std::string(kRedacted);
    // In a shell line only the first word is assigned.
    const bool line = i > 0 && command_[i - 1] == "-c" && word.find(' ') != std::string::npos;
    return line ? RedactText(word) : Assigned(word);
  }

 private:
  // Returns true if the word is the value of the option before it; another option never is.
  static bool IsValueOf(std::string_view option, std::string_view word) {
    if (!option.starts_with('-') || option.find_first_of("= \t\n") != option.npos) return false;
    if (word.starts_with('-') && word.size() > 1 && (word[1] == '-' || word.find('=') != word.npos)) return false;
    return IsSecretValue(KindOf(option), option, word, ValueContext::kOption);
  }

  std::optional<std::string> ShortValue(size_t i) const {
    if (i < 2) return std::nullopt;
    for (const auto& [program, option, after_colon, after_login] : kShort) {
      if (command_[i - 1] != option || !IsOf(program, i - 1)) continue;
      const auto before = command_.first(i - 1);
      if (after_login && std::ranges::find(before, "login") == before.end()) continue;
      if (!IsOwnOption(program, i - 1)) continue;
      const size_t colon = command_[i].find(':');
      if (command_[i].starts_with('$') || (after_colon && colon == std::string::npos)) continue;
      return after_colon ? StrCat(command_[i].substr(0, colon + 1), kRedacted) : std::string(kRedacted);
    }
    return std::nullopt;
  }

  // Returns true if one of the words before word `i` is the program.
  bool IsOf(std::string_view program, size_t i) const {
    return std::ranges::any_of(command_.first(i), [&](const std::string& word) { return BaseName(word) == program; });
  }

  // Returns false for the options of the command that sshpass runs: "sshpass -e ssh -p 2222".
  bool IsOwnOption(std::string_view program, size_t i) const {
    if (program != "sshpass") return true;
    const size_t at = static_cast<size_t>(
        std::ranges::find_if(command_, [&](const std::string& word) { return BaseName(word) == program; }) -
        command_.begin());
    return i > at && std::ranges::all_of(command_.subspan(at + 1, i - at - 1),
                                         [](const std::string& word) { return word.starts_with('-'); });
  }

  // "-pSECRET" of the programs that take it so.
  std::optional<std::string> AttachedValue(size_t i) const {
    const std::string_view word = command_[i];
    for (const auto& [program, option, after_colon, after_login] : kInOneWord) {
      if (!word.starts_with(option) || word.size() == option.size() || !IsOf(program, i) || !IsOwnOption(program, i))
        continue;
      const std::string_view value = word.substr(option.size());
      const size_t colon = value.find(':');
      // "-p3306:3306" after the name of an image is a port.
      const bool is_port = value.find_first_not_of("0123456789:") == value.npos && colon != value.npos;
      if (value.starts_with('$') || (after_colon && colon == value.npos) || (!after_colon && is_port)) continue;
      return StrCat(option, after_colon ? value.substr(0, colon + 1) : "", kRedacted);
    }
    return std::nullopt;
  }

  // "aws configure set aws_secret_access_key SECRET": the name is a word of its own, and no option.
  bool IsSetting(size_t i) const {
    if (i < 2 || command_[i].starts_with('-')) return false;
    const std::string& name = command_[i - 1];
    if (name.starts_with('-') || name.find_first_of("_.-") == name.npos) return false;
    const auto is_verb = [](const std::string& word) { return word == "set" || word == "config" || word == "modify"; };
    const auto before = command_.first(i - 1);
    return std::ranges::any_of(before.last(std::min<size_t>(before.size(), 3)), is_verb) &&
           IsSecretValue(KindOf(name), name, command_[i], ValueContext::kOption);
  }

  // A whole word `name=value` may have spaces and quotes in its value, and names before names: --env=HF_TOKEN=….
  static std::string Assigned(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string_view name = std::string_view(word).substr(0, equals);
    if (equals == std::string::npos || name.find_first_of(" \t\n\"'{}()[]?/,;") != name.npos) return RedactText(word);
    const std::string value = word.substr(equals + 1);
    if (IsSecretValue(KindOf(name), name, value, ValueContext::kOption)) return StrCat(name, "=", kRedacted);
    return StrCat(name, "=", Assigned(value));
  }

  std::span<const std::string> command_;
};

}  // namespace

std::string RedactText(std::string_view text) {
  std::vector<Stretch> stretches = SecretShapes(text);
  FindAssigned(text, stretches);
  return Without(text, std::move(stretches));
}

std::string RedactValue(std::string_view name, std::string_view value) {
  return IsSecretValue(KindOf(name), name, value, ValueContext::kOption) ? std::string(kRedacted) : RedactText(value);
}

std::vector<std::string> RedactCommand(std::span<const std::string> command) {
  if (keep_commands) return {command.begin(), command.end()};
  std::vector<std::string> words;
  const CommandReader reader(command);
  bool logs_in = false;  // wandb login KEY
  for (size_t i = 0; i < command.size(); ++i) {
    const bool key = logs_in && !command[i].starts_with('-') && command[i].size() >= 32;
    words.push_back(key ? std::string(kRedacted) : reader.Word(i));
    logs_in = logs_in || (i > 0 && command[i] == "login" && BaseName(command[i - 1]) == "wandb");
  }
  return words;
}

std::string CommandText(std::span<const std::string> command) { return Join(RedactCommand(command), " "); }

std::string RedactCommandLine(std::string_view line) { return keep_commands ? std::string(line) : RedactText(line); }

bool IsRedacted(std::string_view text) { return text.find(kRedacted) != text.npos; }

void KeepCommands(bool keep) { keep_commands = keep; }

}  // namespace gapless::internal
