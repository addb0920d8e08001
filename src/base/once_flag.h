// SPDX-License-Identifier: Apache-2.0
// Runs a function once, for whichever thread comes first. std::call_once must not be left by an exception in this
// program: it runs the function below a frame of glibc, whose unwinder is another one than the program's own, and the
// program would be aborted.
#pragma once

#include <exception>
#include <mutex>

namespace gapless::internal {

class OnceFlag {
 public:
  // Runs make() if no call before did; calls that come meanwhile wait. If make() throws, this call and all later ones
  // throw the same exception.
  template <class Make>
  void Call(Make&& make) {
    std::call_once(flag_, [&] {
      try {
        make();
      } catch (...) {
        failure_ = std::current_exception();
      }
    });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::once_flag flag_;
  std::exception_ptr failure_;
};

}  // namespace gapless::internal
