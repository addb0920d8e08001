// SPDX-License-Identifier: Apache-2.0
// Call stacks as a tree: a row is a frame, called by the frame of its parent. Equal stacks are one row; a parent stands
// before what it calls.
#pragma once

#include "trace/columns.h"

namespace gapless::internal {

template <template <class> class Of>
struct StackColumns {
  Of<StackId> parent = kRequired<Of>;  // invalid: the outermost frame
  Of<StringId> file = kUnset;
  Of<int64_t> line = kUnset;
  Of<StringId> function = kRequired<Of>;

  static constexpr AboutTable kAbout{"stack", "Call stacks, as a tree of frames"};
  static constexpr ColumnList kColumns{
      RowKey(),
      ShownColumn<&StackColumns::parent>("id:stack", "the calling frame").As("parent_id"),
      ShownColumn<&StackColumns::file>("", "source file"),
      ShownColumn<&StackColumns::line>("", "line in the file"),
      ShownColumn<&StackColumns::function>("", "name of the function"),
  };
};
using StackRow = StackColumns<InTextView>;
using StackTable = TableFor<StackColumns>;

}  // namespace gapless::internal
