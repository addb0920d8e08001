# What a build is for: warnings are errors always; sanitizers, coverage and fuzzing on request (see CMakePresets.json).
set(GAPLESS_SANITIZE "" CACHE STRING "Sanitizers for everything, e.g. address,undefined or thread")
option(GAPLESS_COVERAGE "Instrument for line coverage (needs clang)" OFF)
option(GAPLESS_FUZZ "Build the fuzz targets (needs clang)" OFF)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")

# Rooms whose loops run over every event of a recording, every series or every row. The others run once for what these found, or
# wait for other programs: -O1 makes them in two thirds of the time, and no figure of bench/run tells the difference.
set(GAPLESS_BRISK_ROOMS base trace ingest analyses lanes predict query convert validate)
if(NOT DEFINED GAPLESS_PLAIN)
  set(GAPLESS_PLAIN -O1)
endif()
# gapless_optimise(<target> brisk|plain)
function(gapless_optimise target kind)
  if(kind STREQUAL "plain")
    target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:${GAPLESS_PLAIN}>")
  endif()
endfunction()

add_library(gapless_options INTERFACE)
target_compile_options(gapless_options INTERFACE -Wall -Wextra -Wpedantic)
if(NOT DEFINED CMAKE_COMPILE_WARNING_AS_ERROR)
  target_compile_options(gapless_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bugs 105651 and 105329: false alarms on "text" + std::string and on moving a std::string. Clang and the sanitizers watch.
  target_compile_options(gapless_options INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
                         -Wno-stringop-overread)
endif()
target_compile_definitions(gapless_options INTERFACE GAPLESS_VERSION="${PROJECT_VERSION}")

# With sanitizers and coverage a program of tests has up to 200 MB, which this linker writes in a quarter of the time.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  find_program(GAPLESS_LLD NAMES ld.lld-16 ld.lld)
  if(GAPLESS_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

if(GAPLESS_FUZZ AND NOT GAPLESS_SANITIZE)
  set(GAPLESS_SANITIZE "address,undefined")
endif()
if(GAPLESS_SANITIZE)
  add_compile_options(-fsanitize=${GAPLESS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${GAPLESS_SANITIZE})
  add_compile_definitions(GAPLESS_SANITIZED)  # everything takes ten times as long, and no memory may be limited
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # NVML, CUPTI and libpq are called by signatures of our own, over types that are opaque to us.
    add_compile_options(-fno-sanitize=function)
  endif()
endif()
if(GAPLESS_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "GAPLESS_FUZZ needs clang: cmake --preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(GAPLESS_COVERAGE)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "GAPLESS_COVERAGE needs clang: cmake --preset coverage")
  endif()
  # Each program adds its counts to a file of its own there; tools/coverage.py reads them all.
  set(profile ${PROJECT_BINARY_DIR}/profiles/%4m.profraw)
  add_compile_options(-fprofile-instr-generate=${profile} -fcoverage-mapping -fprofile-update=atomic)
  add_link_options(-fprofile-instr-generate=${profile})
endif()
