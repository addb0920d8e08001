# The standard headers read once instead of once a source, for builds that are made in one go (clang reads a third faster so,
# g++ hardly). Off by default: a source has to include what it uses, and a build without this says where one does not.
option(GAPLESS_PRECOMPILE "Precompile the standard headers (clang)" OFF)
set(standard_headers <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <cstring> <filesystem> <fstream> <functional>
    <limits> <map> <memory> <mutex> <numeric> <optional> <random> <set> <span> <sstream> <string> <string_view> <thread>
    <tuple> <unordered_map> <utility> <vector>)

# One for libraries and one for the programs of tests, whose code is of another kind (-fPIC, -fPIE).
if(GAPLESS_PRECOMPILE)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/precompiled.cc CONTENT "int main() {}\n")
  add_library(gapless_precompiled OBJECT ${PROJECT_BINARY_DIR}/generated/precompiled.cc)
  target_link_libraries(gapless_precompiled PRIVATE gapless_options)
  target_precompile_headers(gapless_precompiled PRIVATE ${standard_headers})
  if(BUILD_TESTING)
    add_executable(gapless_precompiled_tests ${PROJECT_BINARY_DIR}/generated/precompiled.cc)
    target_link_libraries(gapless_precompiled_tests PRIVATE gapless_options GTest::gtest)
    target_precompile_headers(gapless_precompiled_tests PRIVATE ${standard_headers} <gtest/gtest.h>)
  endif()
endif()

# gapless_precompiled_headers(<target> <gapless_precompiled or gapless_precompiled_tests>)
function(gapless_precompiled_headers target from)
  if(GAPLESS_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()
