# The standard headers read once instead of once a source: a quarter of the processor's time of a build from nothing. With a
# compiler cache it is off, because what a precompiled header is part of is found in the cache in the same folder alone.
# A source has to include what it uses all the same; the schedule has a build without this, which says where one does not.
set(precompile ON)
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(precompile OFF)
endif()
option(GAPLESS_PRECOMPILE "Precompile the standard headers" ${precompile})
set(standard_headers <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <cstring> <filesystem> <fstream> <functional>
    <limits> <map> <memory> <mutex> <numeric> <optional> <random> <set> <span> <sstream> <string> <string_view> <thread>
    <tuple> <unordered_map> <utility> <vector>)

# One for each kind of code: for libraries of both kinds of rooms (GAPLESS_BRISK_ROOMS in Flavours.cmake), and for the programs
# of tests (-fPIE instead of -fPIC).
if(GAPLESS_PRECOMPILE)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/precompiled.cc CONTENT "int main() {}\n")
  foreach(kind IN ITEMS brisk plain)
    add_library(gapless_precompiled_${kind} OBJECT ${PROJECT_BINARY_DIR}/generated/precompiled.cc)
    target_link_libraries(gapless_precompiled_${kind} PRIVATE gapless_options)
    gapless_optimise(gapless_precompiled_${kind} ${kind})
    target_precompile_headers(gapless_precompiled_${kind} PRIVATE ${standard_headers})
  endforeach()
  if(BUILD_TESTING)
    add_executable(gapless_precompiled_tests ${PROJECT_BINARY_DIR}/generated/precompiled.cc)
    target_link_libraries(gapless_precompiled_tests PRIVATE gapless_options GTest::gtest)
    gapless_optimise(gapless_precompiled_tests plain)
    target_precompile_headers(gapless_precompiled_tests PRIVATE ${standard_headers} <gtest/gtest.h>)
  endif()
endif()

# gapless_precompiled_headers(<target> <gapless_precompiled_brisk, …_plain or …_tests>)
function(gapless_precompiled_headers target from)
  if(GAPLESS_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()
