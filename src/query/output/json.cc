// SPDX-License-Identifier: Apache-2.0
// Writes rows as a JSON array of objects, one per line. Integers keep all their digits. Columns of the same name give
// an object with the same key twice, as the query asked for.
#include "base/json_writer.h"
#include "query/sinks.h"

namespace gapless::internal {
namespace {

class JsonSink : public PrintingSink {
 public:
  explicit JsonSink(BlockWriter write) : write_(std::move(write)) {}

  // Prepares the text before each cell once, because it is the same in every row: `{"a": `, then `, "b": `.
  void Columns(std::span<const std::string> names) override {
    for (const std::string& name : names) {
      std::string& key = keys_.emplace_back(keys_.empty() ? "{" : ", ");
      AppendJsonString(key, name);
      key += ": ";
    }
  }

  bool Row(std::span<const SqlValue> cells) override {
    block_ += rows_++ == 0 ? "[\n" : ",\n";
    for (size_t i = 0; i < cells.size(); ++i) {
      block_ += keys_[i];
      AppendValue(cells[i]);
    }
    block_ += "}";
    return block_.size() < kOutputBlock || Flush();
  }

  bool Finish() override {
    block_ += rows_ == 0 ? "[]\n" : "\n]\n";
    return Flush();
  }

 private:
  void AppendValue(const SqlValue& value) {
    JsonWriter json(block_);
    switch (value.kind) {
      case SqlValue::Kind::kNull: return json.Null();
      case SqlValue::Kind::kInt: return json.Int(value.integer);
      case SqlValue::Kind::kReal: return json.Real(value.real);
      case SqlValue::Kind::kText: return json.String(value.text);
    }
  }

  bool Flush() {
    const bool open = write_(block_);
    block_.clear();
    return open;
  }

  BlockWriter write_;
  std::string block_;
  std::vector<std::string> keys_;  // with the punctuation before and after
  size_t rows_ = 0;
};

}  // namespace

std::unique_ptr<PrintingSink> MakeJsonSink(BlockWriter write) { return std::make_unique<JsonSink>(std::move(write)); }

}  // namespace gapless::internal
