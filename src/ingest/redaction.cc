// SPDX-License-Identifier: Apache-2.0
// Two passes over the texts: the first collects what has to go, sorted, so that numbers do not depend on the order in
// which texts were met; the second replaces.
//
// Hosts and users are known from where they stand: the recording's own fields, settings that are named after them, the
// name that PyTorch gives its files, folders of users. Then they are replaced wherever they stand as a word. Paths are
// known by their form (path_texts.h). What a person wrote into the name of a range or a function stays.
#include "ingest/redaction.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "ingest/path_texts.h"
#include "trace/identity.h"
#include "trace/own_code.h"

namespace gapless::internal {
namespace {

// Libraries that anybody can have, by the name of their folder.
constexpr std::string_view kPublic[] = {"PIL",
                                        "accelerate",
                                        "apex",
                                        "bitsandbytes",
                                        "cupy",
                                        "datasets",
                                        "deepspeed",
                                        "diffusers",
                                        "fastai",
                                        "flash_attn",
                                        "fsspec",
                                        "functorch",
                                        "huggingface_hub",
                                        "ignite",
                                        "jax",
                                        "keras",
                                        "lightning",
                                        "lightning_fabric",
                                        "matplotlib",
                                        "megatron",
                                        "mlflow",
                                        "monai",
                                        "numpy",
                                        "onnx",
                                        "pandas",
                                        "peft",
                                        "polars",
                                        "pyarrow",
                                        "pytorch_lightning",
                                        "ray",
                                        "safetensors",
                                        "scipy",
                                        "sklearn",
                                        "tensorboard",
                                        "tensorflow",
                                        "timm",
                                        "tokenizers",
                                        "torch",
                                        "torch_geometric",
                                        "torchaudio",
                                        "torchdata",
                                        "torchmetrics",
                                        "torchrec",
                                        "torchtext",
                                        "torchvision",
                                        "tqdm",
                                        "transformer_engine",
                                        "transformers",
                                        "triton",
                                        "trl",
                                        "vllm",
                                        "wandb",
                                        "webdataset",
                                        "xformers"};

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// The ending of a file's name, ".json.gz", if it says what the file is and nothing else; "" otherwise.
std::string_view EndingOf(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of("/\\") + 1);
  size_t dot = name.rfind('.');
  if (dot == name.npos || dot == 0) return {};
  const std::string_view last = name.substr(dot);
  if (last == ".gz" || last == ".zst") dot = std::min(dot, name.rfind('.', dot - 1));
  if (dot == name.npos) return last;
  const std::string_view ending = name.substr(dot);
  const auto is_plain = [](char c) { return c == '.' || c == '-' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto is_digit = [](char c) { return c == '.' || (c >= '0' && c <= '9'); };
  return ending.size() <= 12 && std::ranges::all_of(ending, is_plain) && !std::ranges::all_of(ending, is_digit)
             ? ending
             : std::string_view();
}

// Returns what follows the last `part` in a path; nullopt-like "" if it is not there.
std::string_view Behind(std::string_view path, std::string_view part) {
  const size_t at = path.rfind(part);
  return at == path.npos ? std::string_view() : path.substr(at + part.size());
}

bool IsPublic(std::string_view below) {
  const std::string_view first = below.substr(0, below.find('/'));
  return std::ranges::find(kPublic, first.ends_with(".py") ? first.substr(0, first.size() - 3) : first) !=
         std::end(kPublic);
}

}  // namespace

// The names that took the place of others. What has a name keeps it when more is collected.
class Redaction::Names {
 public:
  // The folder of a user tells the name.
  void CollectPath(std::string_view path) {
    paths_[std::string(path)];
    const std::string slashes = WithSlashes(path);
    for (const std::string_view homes : {"/home/", "/Users/", "/users/", "/Documents and Settings/"}) {
      const std::string_view name = Behind(slashes, homes);
      const std::string_view user = name.substr(0, name.find('/'));
      if (user.size() > 1 && user != "Shared" && user != "Public") users_[std::string(user)];
    }
  }
  void CollectHost(std::string_view host) {
    if (host.size() > 1 && host != "localhost") hosts_[std::string(host)];
  }
  void CollectUser(std::string_view user) {
    if (user.size() > 1 && user != "root") users_[std::string(user)];
  }
  void CollectText(std::string_view text) {
    for (const PathInText& path : PathsIn(text)) CollectPath(text.substr(path.begin, path.end - path.begin));
  }

  // Gives everything that has no name yet its number.
  void Settle() {
    AddFoldersWithSpaces();
    for (auto& [path, name] : paths_) {
      if (!name.empty()) continue;
      name = NameOf(path);
      if (path.find(' ') != path.npos) spaced_.emplace_back(path, name);
    }
    Number(hosts_, "host-");
    Number(users_, "user-");
    // A longer word first: "node1.cluster" before "node1".
    for (auto* each : {&words_, &spaced_})
      std::ranges::stable_sort(*each, [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  }

  std::string Replaced(std::string_view text) const {
    // Outside frames the form of a path does not show where one with spaces ends.
    for (const auto& [path, name] : spaced_)
      if (const size_t at = text.find(path); at != text.npos)
        return StrCat(Replaced(text.substr(0, at)), name, Replaced(text.substr(at + path.size())));
    std::string out;
    size_t done = 0;
    for (const PathInText& path : PathsIn(text)) {
      out += WithoutWords(text.substr(done, path.begin - done));
      const auto found = paths_.find(std::string(text.substr(path.begin, path.end - path.begin)));
      out += found == paths_.end() ? "path" : found->second;
      done = path.end;
    }
    return out += WithoutWords(text.substr(done));
  }

 private:
  void AddFoldersWithSpaces() {
    std::set<std::string> folders;
    for (const auto& [path, name] : paths_)
      for (size_t end = path.find_last_of("/\\"); end != path.npos && end > 0; end = path.find_last_of("/\\", end - 1))
        if (path.find(' ') < end) folders.insert(path.substr(0, end));
    for (const std::string& folder : folders) paths_[folder];
  }

  std::string NameOf(const std::string& path) {
    const std::string slashes = WithSlashes(path);
    if (IsOfGapless(slashes)) {
      const size_t at = std::min(slashes.find("gapless_agent/"), slashes.find("python/gapless/"));
      return at == slashes.npos ? slashes : slashes.substr(at);
    }
    std::string folder;
    for (const std::string_view packages : {"site-packages/", "dist-packages/"}) {
      if (slashes.find(packages) == slashes.npos) continue;
      const std::string_view below = Behind(slashes, packages);
      if (IsPublic(below)) return StrCat(packages, below);
      folder = packages;
    }
    if (folder.empty() && slashes.find('/') != slashes.npos && IsPublic(slashes)) return slashes;
    if (const std::string_view own = Behind(slashes, "/lib/python"); folder.empty() && own.find('/') != own.npos)
      return StrCat("/lib/python", own);
    if (folder.empty() && IsInstalled(slashes)) return StrCat("/lib/python", slashes.substr(slashes.rfind('/')));
    const std::string_view ending = EndingOf(slashes);
    return ending.empty() ? StrCat(folder, "path-", ++others_) : StrCat(folder, "file-", ++files_, ending);
  }

  void Number(std::map<std::string, bool>& words, std::string_view prefix) {
    int64_t number = std::ranges::count_if(words, [](const auto& word) { return word.second; });
    for (auto& [word, is_named] : words)
      if (!std::exchange(is_named, true)) words_.emplace_back(word, StrCat(prefix, ++number));
  }

  // Replaces hosts and users where they are whole words.
  std::string WithoutWords(std::string_view text) const {
    std::string out(text);
    for (const auto& [word, name] : words_) {
      for (size_t at = out.find(word); at != out.npos; at = out.find(word, at)) {
        const size_t end = at + word.size();
        const bool is_word = (at == 0 || !IsWordByte(out[at - 1])) && (end == out.size() || !IsWordByte(out[end]));
        if (is_word) out.replace(at, word.size(), name);
        at += is_word ? name.size() : word.size();
      }
    }
    return out;
  }

  std::map<std::string, std::string> paths_;
  std::map<std::string, bool> hosts_, users_;  // true: it has a name
  int64_t files_ = 0, others_ = 0;
  std::vector<std::pair<std::string, std::string>> words_, spaced_;  // paths with spaces and their names
};

namespace {

// Settings that name a machine or a person.
bool NamesHost(std::string_view key) {
  return ContainsIgnoreCase(key, "host") || ContainsIgnoreCase(key, "node_name") ||
         ContainsIgnoreCase(key, "nodelist") || ContainsIgnoreCase(key, "master_addr");
}
bool NamesUser(std::string_view key) {
  return EqualsIgnoreCase(key, "user") || EqualsIgnoreCase(key, "username") || EqualsIgnoreCase(key, "logname") ||
         ContainsIgnoreCase(key, "user_name");
}

// Collects the names of one recording.
template <class Names>
void Collect(const Trace& trace, Names& names) {
  names.CollectHost(IdentityOf(trace).host);
  for (size_t row = 0; row < trace.environment.size(); ++row) {
    const std::string_view key = trace.Text(trace.environment.key[row]);
    const std::string_view value = trace.Text(trace.environment.value[row]);
    if (NamesHost(key)) names.CollectHost(value);
    if (NamesUser(key)) names.CollectUser(value);
  }
  for (size_t id = 1; id < trace.strings.size(); ++id) names.CollectText(trace.strings[static_cast<StringId>(id)]);
}

}  // namespace

Redaction::Redaction() : names_(std::make_unique<Names>()) {}
Redaction::~Redaction() = default;

void Redaction::Apply(LoadedRun& loaded) {
  for (const RunTrace& each : loaded.run.traces()) Collect(*each.trace, *names_);
  for (const Error& failure : loaded.failures)
    for (const std::string* text : {&failure.message, &failure.place, &failure.hint}) names_->CollectText(*text);
  names_->Settle();
  for (const RunTrace& each : loaded.run.traces()) {
    // The run was read a moment ago, and nothing has looked at its texts.
    Trace& trace = const_cast<Trace&>(*each.trace);
    ChangeTexts(trace, [this](std::string_view text) { return names_->Replaced(text); });
    trace.info.host = names_->Replaced(trace.info.host);
    trace.info.path = StrCat("recording-", ++recordings_, EndingOf(trace.info.path));
  }
  for (Error& failure : loaded.failures)
    for (std::string* text : {&failure.message, &failure.place, &failure.hint}) *text = names_->Replaced(*text);
}

void Redaction::Apply(std::span<std::string* const> texts) {
  for (const std::string* text : texts) names_->CollectText(*text);
  names_->Settle();
  for (std::string* text : texts) *text = names_->Replaced(*text);
}

}  // namespace gapless::internal
