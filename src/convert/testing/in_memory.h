// SPDX-License-Identifier: Apache-2.0
// Destinations that keep what is written, for tests.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "convert/sink.h"

namespace gapless::internal::testing {

// Appends to a text; takes at most `room` bytes.
class TextSink : public Sink {
 public:
  explicit TextSink(std::string& text, size_t room = std::string::npos) : text_(text), room_(room) {}
  bool Write(std::string_view block) override {
    if (text_.size() + block.size() > room_) return full_ = true, false;
    text_ += block;
    return true;
  }
  Result<void> Finish() override {
    if (full_) return Fail(ErrorCode::kEnvironment, "no room");
    return {};
  }

 private:
  std::string& text_;
  const size_t room_;
  bool full_ = false;
};

// An InMemory keeps each file as a text, by name; without a directory under the name "".
class InMemory : public Destination {
 public:
  explicit InMemory(bool folder = false) : folder_(folder) {}
  bool is_folder() const override { return folder_; }
  Result<std::unique_ptr<Sink>> Open(std::string_view name) override {
    return std::unique_ptr<Sink>(std::make_unique<TextSink>(files[std::string(name)]));
  }
  // The only file.
  const std::string& text() { return files[""]; }

  std::map<std::string, std::string> files;  // by name

 private:
  bool folder_;
};

}  // namespace gapless::internal::testing
