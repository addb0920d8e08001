// SPDX-License-Identifier: Apache-2.0
// The structures of the Arrow C interface: who owns what, and how each is released. Their columns come from
// arrow_columns.h.
//
// Every structure has its memory in a holder behind private_data, which `release` deletes; a reader may move a child
// out of its parent and release it later, so each child holds what it needs by itself. The columns of texts are made
// when the stream is, for their dictionary is that of all batches; numbers are made batch by batch.
#include "gapless/arrow.h"

#include <array>
#include <bit>
#include <cerrno>
#include <deque>
#include <exception>
#include <new>

#include "api/arrow_columns.h"
#include "base/strings.h"
#include "base/thread_pool.h"

namespace gapless {
namespace internal {
namespace {

constexpr size_t kMinCellsForThreads = 1 << 20;

template <class T>
struct Holder {
  Holder() = default;
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  virtual ~Holder() {
    for (T& child : children)
      if (child.release != nullptr) child.release(&child);
    if (dictionary.release != nullptr) dictionary.release(&dictionary);
  }
  std::deque<T> children{};  // addresses stay
  std::vector<T*> child_pointers{};
  T dictionary{};

  T& AddChild() {
    children.emplace_back();
    child_pointers.push_back(&children.back());
    return children.back();
  }
};

template <class T>
void Release(T* released) {
  delete static_cast<Holder<T>*>(released->private_data);
  released->release = nullptr;
}

// Fills `out`, which owns the holder from then on, except for what differs by its type.
template <class T, class H>
H* Hold(T& out, std::unique_ptr<H> holder) {
  H* held = holder.release();
  out.n_children = static_cast<int64_t>(held->child_pointers.size());
  out.children = held->child_pointers.data();
  out.dictionary = held->dictionary.release == nullptr ? nullptr : &held->dictionary;
  out.release = Release<T>;
  out.private_data = static_cast<Holder<T>*>(held);
  return held;
}

struct SchemaHolder : Holder<ArrowSchema> {
  std::string name{}, metadata{};
};

// Pairs of texts as the interface wants them: counts and lengths as int32 of the machine.
std::string MetadataOf(std::initializer_list<std::pair<std::string_view, std::string_view>> pairs) {
  std::string text;
  const auto number = [&text](size_t value) {
    const auto bytes = std::bit_cast<std::array<char, sizeof(int32_t)>>(static_cast<int32_t>(value));
    text.append(bytes.data(), bytes.size());
  };
  number(static_cast<size_t>(std::ranges::count_if(pairs, [](const auto& pair) { return !pair.second.empty(); })));
  for (const auto& [key, value] : pairs) {
    if (value.empty()) continue;
    number(key.size());
    text += key;
    number(value.size());
    text += value;
  }
  return text;
}

void FillSchema(ArrowSchema& out, const char* format, std::unique_ptr<SchemaHolder> holder) {
  const SchemaHolder* held = Hold(out, std::move(holder));
  out.format = format;
  out.name = held->name.c_str();
  out.metadata = held->metadata.empty() ? nullptr : held->metadata.c_str();
  out.flags = ARROW_FLAG_NULLABLE;
}

struct ArrayHolder : Holder<ArrowArray> {
  std::vector<std::shared_ptr<const void>> owners{};
  std::array<const void*, 3> buffers{};
};

void FillArray(ArrowArray& out, size_t rows, int64_t absent, int buffers, std::unique_ptr<ArrayHolder> holder) {
  ArrayHolder* held = Hold(out, std::move(holder));
  out.length = static_cast<int64_t>(rows);
  out.null_count = absent;
  out.offset = 0;
  out.n_buffers = buffers;
  out.buffers = held->buffers.data();
}

void FillDictionary(ArrowArray& out, std::shared_ptr<const ArrowTexts> texts) {
  auto holder = std::make_unique<ArrayHolder>();
  const void* offsets = texts->is_long() ? static_cast<const void*>(texts->long_offsets.data())
                                         : static_cast<const void*>(texts->short_offsets.data());
  holder->buffers = {nullptr, offsets, texts->bytes.data()};
  const size_t size = texts->size;
  holder->owners.push_back(std::move(texts));
  FillArray(out, size, 0, 3, std::move(holder));
}

// Stands for a table that was made by the default constructor.
class TableOfNothing : public TableData {
 public:
  Cell At(size_t, size_t) const override { return {}; }
};

// A table on its way out: some of its columns, batch by batch.
class Stream {
 public:
  Stream(TableDataPtr table, std::vector<size_t> columns)
      : table_(std::move(table)),
        columns_(std::move(columns)),
        stretches_(table_->Stretches()),
        texts_(columns_.size()) {
    std::vector<size_t> of_texts;
    for (size_t i = 0; i < columns_.size(); ++i)
      if (Type(i) == ColumnType::kText) of_texts.push_back(i);
    InParallel(of_texts.size(), table_->rows,
               [&](size_t i) { texts_[of_texts[i]] = TextColumn(*table_, columns_[of_texts[i]]); });
  }

  void Schema(ArrowSchema& out) const {
    auto holder = std::make_unique<SchemaHolder>();
    holder->metadata = MetadataOf({{"name", table_->name}});
    for (size_t i = 0; i < columns_.size(); ++i) FieldSchema(i, holder->AddChild());
    FillSchema(out, "+s", std::move(holder));
  }

  // A released array behind the last batch.
  void Next(ArrowArray& out) {
    out.release = nullptr;
    if (next_ == stretches_.size()) return;
    const size_t rows = stretches_[next_].rows;
    std::vector<ArrowValues> values(columns_.size());
    InParallel(columns_.size(), rows, [&](size_t i) {
      values[i] = Type(i) == ColumnType::kText ? texts_[i].stretches[next_] : NumberColumn(table_, next_, columns_[i]);
    });
    auto holder = std::make_unique<ArrayHolder>();
    for (size_t i = 0; i < columns_.size(); ++i) FillColumn(i, rows, std::move(values[i]), holder->AddChild());
    FillArray(out, rows, 0, 1, std::move(holder));
    ++next_;
  }

  std::string error{};

 private:
  ColumnType Type(size_t i) const { return table_->columns[columns_[i]].type; }

  static void InParallel(size_t count, size_t rows, const std::function<void(size_t)>& body) {
    if (count < 2 || count * rows < kMinCellsForThreads) return ForEach(nullptr, count, body);
    ThreadPool pool(std::min(count, DefaultThreads()));
    pool.ParallelFor(count, body);
  }

  void FieldSchema(size_t i, ArrowSchema& out) const {
    const gapless::Column& column = table_->columns[columns_[i]];
    auto holder = std::make_unique<SchemaHolder>();
    holder->name = column.name;
    holder->metadata = MetadataOf({{"unit", column.unit}, {"help", column.help}});
    if (column.type == ColumnType::kText)
      FillSchema(holder->dictionary, texts_[i].texts->is_long() ? "U" : "u", std::make_unique<SchemaHolder>());
    FillSchema(out,
               column.type == ColumnType::kInt    ? "l"
               : column.type == ColumnType::kReal ? "g"
                                                  : "i",
               std::move(holder));
  }

  void FillColumn(size_t i, size_t rows, ArrowValues values, ArrowArray& out) const {
    auto holder = std::make_unique<ArrayHolder>();
    holder->buffers = {values.present, values.values, nullptr};
    holder->owners = std::move(values.owners);
    holder->owners.push_back(table_);
    if (texts_[i].texts != nullptr) FillDictionary(holder->dictionary, texts_[i].texts);
    FillArray(out, rows, values.absent, 2, std::move(holder));
  }

  const TableDataPtr table_;
  const std::vector<size_t> columns_;
  const std::vector<TableData::Stretch> stretches_;
  std::vector<ArrowTextColumn> texts_;  // by the order of columns_; empty for numbers
  size_t next_ = 0;
};

// Calls `act` for a C program, which no exception reaches.
template <class F>
int Guarded(ArrowArrayStream* stream, F&& act) {
  auto& of = *static_cast<Stream*>(stream->private_data);
  try {
    act(of);
    return 0;
  } catch (const std::bad_alloc&) {
    of.error = "there is not enough memory";
    return ENOMEM;
  } catch (const std::exception& failure) {
    of.error = failure.what();
    return EIO;
  }
}

}  // namespace

}  // namespace internal

Result<void> ExportArrow(const Table& table, ArrowArrayStream* stream, std::span<const std::string> columns) {
  std::vector<size_t> wanted;
  for (const std::string& name : columns) {
    const auto found = table.Require(name);
    if (!found) return Unexpected{found.error()};
    wanted.push_back(*found);
  }
  if (columns.empty())
    for (size_t i = 0; i < table.columns().size(); ++i) wanted.push_back(i);
  auto data = internal::TableData::Of(table);
  if (data == nullptr) data = std::make_shared<internal::TableOfNothing>();
  auto made = std::make_unique<internal::Stream>(std::move(data), std::move(wanted));
  stream->get_schema = [](ArrowArrayStream* of, ArrowSchema* out) {
    return internal::Guarded(of, [out](internal::Stream& from) { from.Schema(*out); });
  };
  stream->get_next = [](ArrowArrayStream* of, ArrowArray* out) {
    return internal::Guarded(of, [out](internal::Stream& from) { from.Next(*out); });
  };
  stream->get_last_error = [](ArrowArrayStream* of) {
    const auto& error = static_cast<internal::Stream*>(of->private_data)->error;
    return error.empty() ? nullptr : error.c_str();
  };
  stream->release = [](ArrowArrayStream* of) {
    delete static_cast<internal::Stream*>(of->private_data);
    of->release = nullptr;
  };
  stream->private_data = made.release();
  return {};
}

}  // namespace gapless
