// SPDX-License-Identifier: Apache-2.0
// The destination of `convert`: standard output, a file, or the files of a folder.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output.h"
#include "convert/sink.h"

namespace gapless::internal {

// Opens the files of one conversion. Used by one thread.
class OutputDestination : public Destination {
 public:
  // "" or "-": standard output. A path that ends in "/" or is a folder: files in it; it is made when it is not there.
  // `inputs` are never written over.
  OutputDestination(std::string path, std::vector<std::string> inputs);
  // Without Commit() nothing of what was written is left.
  ~OutputDestination() override;

  bool is_folder() const override { return is_folder_; }
  // Opens the file `name` in the folder; a single file or standard output ignores the name. An error: the file would
  // replace an input, or cannot be made. The sink may be destroyed before Commit().
  Result<std::unique_ptr<Sink>> Open(std::string_view name) override;

  // Gives the files their names, once every sink is finished.
  Result<void> Commit();

  struct File {
    std::string path;
    int64_t bytes = 0;  // as written, compressed
  };
  // Returns the files in the order in which they were opened.
  std::vector<File> files() const;

 private:
  struct Entry;

  const std::string path_;
  const std::vector<std::string> inputs_;
  bool is_folder_ = false, made_folder_ = false;
  std::vector<std::shared_ptr<Entry>> entries_;
};

}  // namespace gapless::internal
