// SPDX-License-Identifier: Apache-2.0
// Implements the outputs of `convert`: standard output, one file, or a folder with several files, compressed according
// to the extension. Files appear when all of them are complete.
//
// Each file is written under a temporary name (output.h). Commit() renames them one after the other, so a crash between
// two renames can leave some of them, each complete. Without Commit() the destructor removes what was written, and the
// folder if this object made it.
#include "cli/destination.h"

#include <filesystem>
#include <utility>

#include "base/strings.h"
#include "base/temporaries.h"
#include "convert/compress.h"

namespace gapless::internal {

namespace fs = std::filesystem;

// An open file. It is shared with its sink, which writes into it and counts its bytes.
struct OutputDestination::Entry {
  File file;
  Output output;
};

namespace {

// Passes bytes on to an output that the destination holds, too: it must outlive the sink to be committed.
template <class Entry>
class OutputSink : public Sink {
 public:
  explicit OutputSink(std::shared_ptr<Entry> entry) : entry_(std::move(entry)) {}
  bool Write(std::string_view block) override {
    entry_->file.bytes += static_cast<int64_t>(block.size());
    return entry_->output.Write(block);
  }
  Result<void> Finish() override { return entry_->output.Close(); }

 private:
  std::shared_ptr<Entry> entry_;
};

}  // namespace

namespace {

// libc++ denies having made a folder whose name ends with a slash.
std::string MadeFolderOf(const std::string& path) {
  return path.ends_with('/') ? fs::path(path).parent_path().string() : path;
}

}  // namespace

OutputDestination::OutputDestination(std::string path, std::vector<std::string> inputs)
    : path_(std::move(path)), inputs_(std::move(inputs)) {
  std::error_code ignored;
  is_folder_ = path_.ends_with('/') || fs::is_directory(path_, ignored);
}

OutputDestination::~OutputDestination() {
  // Outputs remove their temporary files when they go, which must come before the folder can be removed.
  entries_.clear();
  std::error_code ignored;
  if (!made_folder_) return;
  fs::remove(path_, ignored);  // only while it is empty
  ForgetTemporary(MadeFolderOf(path_));
}

Result<std::unique_ptr<Sink>> OutputDestination::Open(std::string_view name) {
  std::error_code error;
  if (is_folder_ && fs::create_directories(MadeFolderOf(path_), error)) {
    made_folder_ = true;
    RememberTemporary(MadeFolderOf(path_));  // a program that is ended by force takes it along
  }
  if (error) return Fail(ErrorCode::kEnvironment, StrCat("cannot make the folder: ", error.message()), path_);
  const std::string path = is_folder_ ? (fs::path(path_) / name).string() : path_;
  // Checked per file: in a folder only the name made here can collide with an input.
  GAPLESS_TRY(RefuseInput(path, inputs_));
  GAPLESS_ASSIGN(auto output, Output::Open(path));
  entries_.push_back(std::make_shared<Entry>(Entry{{path, 0}, std::move(output)}));
  return CompressByName(path, std::make_unique<OutputSink<Entry>>(entries_.back()));
}

// The folder is kept from here on.
Result<void> OutputDestination::Commit() {
  for (const auto& entry : entries_) GAPLESS_TRY(entry->output.Commit());
  if (std::exchange(made_folder_, false)) ForgetTemporary(MadeFolderOf(path_));
  return {};
}

std::vector<OutputDestination::File> OutputDestination::files() const {
  std::vector<File> found;
  for (const auto& entry : entries_) found.push_back(entry->file);
  return found;
}

}  // namespace gapless::internal
