# libgapless_inject.so, the collector that CUDA loads into other people's programs (src/inject/). Not a room: nothing of ours
# is linked into it but its own sources and the header-only src/wire/, and it is made to depend on libc alone.
#
#   gapless_inject_core   its sources as a library, for tests and benchmarks
#   gapless_inject        the shared library; GAPLESS_INJECT_FILE is its path, for who embeds it (make the generated source
#                         depend on it: OBJECT_DEPENDS ${GAPLESS_INJECT_FILE}, and the target on gapless_inject)
#
# It is built with the headers of CUPTI 12 and 13, which `make deps` fetches (tools/cupti_headers.sh).
set(GAPLESS_CUPTI ${GAPLESS_DEPS}/cupti CACHE PATH "Headers of CUPTI, from tools/cupti_headers.sh")
foreach(header IN ITEMS cupti12/include/cupti_activity.h cupti13/include/cupti_activity.h cuda/include/cuda.h)
  if(NOT EXISTS ${GAPLESS_CUPTI}/${header})
    message(FATAL_ERROR "The headers of CUPTI are missing (${GAPLESS_CUPTI}/${header}): run `make deps`, which fetches them "
                        "from PyPI; a machine without network needs a copy of build/deps/cupti from another one.")
  endif()
endforeach()
add_library(gapless_cupti_headers INTERFACE)
target_include_directories(gapless_cupti_headers SYSTEM INTERFACE
  ${GAPLESS_CUPTI}/cupti13/include ${GAPLESS_CUPTI}/cuda/include ${GAPLESS_CUPTI})

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/inject/*.cc)
list(FILTER sources EXCLUDE REGEX "(_test|_bench)\\.cc$")
add_library(gapless_inject_core STATIC ${sources})
target_include_directories(gapless_inject_core PUBLIC ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(gapless_inject_core PUBLIC gapless_cupti_headers PRIVATE gapless_options ${CMAKE_DL_LIBS})
target_compile_options(gapless_inject_core PRIVATE -fno-exceptions -fno-rtti -fno-strict-aliasing
                       -ffunction-sections -fdata-sections)  # CUPTI's records are read in place, as what they begin with

# The collector has no type information, which the sanitizer of virtual calls would look for.
if(GAPLESS_SANITIZE)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/inject/stream_file_test.cc PROPERTIES
                              COMPILE_OPTIONS -fno-sanitize=vptr SKIP_PRECOMPILE_HEADERS ON)
endif()

set(GAPLESS_INJECT_FILE ${PROJECT_BINARY_DIR}/libgapless_inject.so)
add_library(gapless_inject SHARED ${PROJECT_SOURCE_DIR}/src/inject/inject.cc)
set_target_properties(gapless_inject PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_libraries(gapless_inject PRIVATE gapless_inject_core gapless_options)
target_compile_options(gapless_inject PRIVATE -fno-exceptions -fno-rtti)
# Loaded once, never unloaded: CUPTI keeps the addresses of our functions.
target_link_options(gapless_inject PRIVATE -static-libstdc++ -static-libgcc LINKER:--gc-sections LINKER:--as-needed
                    LINKER:--version-script=${PROJECT_SOURCE_DIR}/src/inject/exports.map LINKER:-z,nodelete LINKER:-z,now)
set_target_properties(gapless_inject PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/inject/exports.map)
if(NOT GAPLESS_SANITIZE AND NOT GAPLESS_COVERAGE)
  target_link_options(gapless_inject PRIVATE LINKER:--no-undefined LINKER:--strip-all)
endif()

# tests/inject_test.cc has the collector and its reader together; bench/inject_records.cc times the collector.
function(gapless_inject_users)
  if(TARGET test_whole)
    target_compile_definitions(test_whole PRIVATE GAPLESS_INJECT_FILE="${GAPLESS_INJECT_FILE}"
      GAPLESS_STAND_IN_FOLDER="${PROJECT_BINARY_DIR}/stand_in" GAPLESS_CUPTI_FOLDER="${GAPLESS_CUPTI}")
    add_dependencies(test_whole gapless_inject stand_in_cupti12 stand_in_cupti13 stand_in_lacking plain_program
                     python_like_program)
  endif()
  if(TARGET inject_records)
    target_link_libraries(inject_records PRIVATE gapless_inject_core)
  endif()
endfunction()
cmake_language(DEFER CALL gapless_inject_users)

# What tests need: a stand-in for libcupti 12 and 13, a program that loads the collector as CUDA would, and their paths.
if(NOT BUILD_TESTING)
  return()
endif()
function(gapless_stand_in name source folder)
  add_library(${name} SHARED ${PROJECT_SOURCE_DIR}/src/inject/testing/${source})
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/stand_in/${folder}
                                           OUTPUT_NAME cupti CXX_VISIBILITY_PRESET default)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE gapless_cupti_headers gapless_options)
endfunction()
gapless_stand_in(stand_in_cupti12 stand_in_cupti.cc cupti12)
gapless_stand_in(stand_in_cupti13 stand_in_cupti.cc cupti13)
gapless_stand_in(stand_in_lacking stand_in_lacking.cc lacking)
target_compile_definitions(stand_in_cupti12 PRIVATE GAPLESS_STAND_IN_12)
set_target_properties(stand_in_cupti12 PROPERTIES SUFFIX .so.12)
set_target_properties(stand_in_cupti13 PROPERTIES SUFFIX .so.13)
foreach(program IN ITEMS plain_program python_like_program)
  add_executable(${program} ${PROJECT_SOURCE_DIR}/src/inject/testing/plain_program.cc)
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/stand_in)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${program} PRIVATE gapless_options ${CMAKE_DL_LIBS})
endforeach()
set_target_properties(python_like_program PROPERTIES ENABLE_EXPORTS ON)
target_compile_definitions(python_like_program PRIVATE GAPLESS_LIKE_PYTHON)

file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/inject/*_test.cc)
gapless_test(test_inject SOURCES ${tests} LINK gapless_inject_core LABEL unit)
target_compile_definitions(test_inject PRIVATE GAPLESS_CUPTI_FOLDER="${GAPLESS_CUPTI}")
