# A room is a folder of src/: one static library, one test program, and whatever src/layers.txt lets it include.

# The rooms that read recordings compile for macOS, too, as the library (tools/wheel/macos.sh). All that starts and watches programs is
# for Linux alone: these rooms and these sources are left.
set(GAPLESS_READING_ROOMS "^(base|trace|ingest|validate|analyses|lanes|diagnose|predict|forge|cluster|query|report|store|flows|api)$")
set(GAPLESS_LINUX_SOURCES
    "/(flows/(handover|optimization|profiled_job)|api/(optimize|validator)|report/(bench|compare|doctor|gate|lab|optimize|trend|tune|validate)/[^/]*)\\.cc$")

# The rooms that read what strangers wrote: files, what programs send, results of other tools. In CI their tests run with sanitizers,
# those of the other rooms with the optimised program; the schedule runs all of them with sanitizers.
set(GAPLESS_READERS base trace ingest collect store inject)
add_custom_target(sanitized_tests)  # what CI builds with sanitizers
add_custom_target(optimised_tests)  # the program, the other tests, and all that tests labelled `optimised` start beside it

# Reads src/layers.txt into GAPLESS_ROOMS (in order) and GAPLESS_MAY_INCLUDE_<room>.
function(gapless_read_layers file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} lines REGEX "^[a-z_]+:")
  set(rooms "")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([a-z_]+):(.*)$" _ "${line}")
    set(room ${CMAKE_MATCH_1})
    separate_arguments(below UNIX_COMMAND "${CMAKE_MATCH_2}")
    list(APPEND rooms ${room})
    set(GAPLESS_MAY_INCLUDE_${room} ${below} PARENT_SCOPE)
  endforeach()
  if(APPLE)
    list(FILTER rooms INCLUDE REGEX "${GAPLESS_READING_ROOMS}")
  endif()
  set(GAPLESS_ROOMS ${rooms} PARENT_SCOPE)
endfunction()

# gapless_room(<name>): library gapless_<name> and test program test_<name> from src/<name>/. Skipped while there is no source.
function(gapless_room room)
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.cc)
  set(sources ${all})
  if(APPLE)
    list(FILTER sources EXCLUDE REGEX "${GAPLESS_LINUX_SOURCES}")
  endif()
  list(FILTER sources EXCLUDE REGEX "(_test|_bench|/main)\\.cc$|/testing/")
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(NOT sources)
    return()
  endif()
  add_library(gapless_${room} STATIC ${sources})
  target_include_directories(gapless_${room} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(gapless_${room} PRIVATE gapless_options)
  set(kind plain)
  if(room IN_LIST GAPLESS_BRISK_ROOMS)
    set(kind brisk)
  endif()
  gapless_optimise(gapless_${room} ${kind})
  gapless_precompiled_headers(gapless_${room} gapless_precompiled_${kind})
  gapless_in_batches(gapless_${room})
  foreach(below IN LISTS GAPLESS_MAY_INCLUDE_${room})
    if(TARGET gapless_${below})
      target_link_libraries(gapless_${room} PUBLIC gapless_${below})
    endif()
  endforeach()
  gapless_testing_library(${room} "${all}")
  if(tests AND BUILD_TESTING)
    set(label unit)
    if(room STREQUAL "validate")
      set(label statistics)
    endif()
    set(helpers "")
    foreach(below IN LISTS GAPLESS_MAY_INCLUDE_${room} ITEMS ${room})
      if(TARGET gapless_${below}_testing)
        list(APPEND helpers gapless_${below}_testing)
      endif()
    endforeach()
    gapless_test(test_${room} SOURCES ${tests} LINK ${helpers} gapless_${room} LABEL ${label})
    gapless_in_batches(test_${room})
  endif()
endfunction()

# Sources in src/<room>/testing/ are a library of their own, gapless_<room>_testing, for tests and benchmarks: nothing of it is in the
# program. A main there (validate) and what cmake/Inject.cmake builds are programs.
function(gapless_testing_library room all)
  set(sources ${all})
  list(FILTER sources INCLUDE REGEX "/testing/[^/]*\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test|_bench|/main)\\.cc$|/inject/")
  if(NOT sources OR APPLE)
    return()
  endif()
  add_library(gapless_${room}_testing STATIC EXCLUDE_FROM_ALL ${sources})
  target_include_directories(gapless_${room}_testing PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(gapless_${room}_testing PUBLIC gapless_${room} PRIVATE gapless_options)
  gapless_optimise(gapless_${room}_testing plain)
endfunction()

# A process for each case costs more than the case where sanitizers and coverage make programs of up to 200 MB.
set(GAPLESS_TEST_SHARDS 0 CACHE STRING "Processes that share the cases of a program of tests; 0: one for each case")

# gapless_test(<program> SOURCES <file>... LINK <library>... LABEL <label>): a GoogleTest program whose cases ctest knows one by
# one, or in shards, each with the label (tests/CMakeLists.txt has the list of labels).
# Tests run in the source folder, where GAPLESS_CORPUS has its default, ../shared/data.
function(gapless_test program)
  cmake_parse_arguments(T "" "LABEL" "SOURCES;LINK" ${ARGN})
  if(NOT T_LABEL)
    message(FATAL_ERROR "the test program ${program} has no label")
  endif()
  add_executable(${program} ${T_SOURCES})
  target_link_libraries(${program} PRIVATE ${T_LINK} gapless_options GTest::gtest_main)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  gapless_optimise(${program} plain)
  gapless_precompiled_headers(${program} gapless_precompiled_tests)
  string(REPLACE "test_" "" room ${program})
  if(room IN_LIST GAPLESS_READERS)
    add_dependencies(sanitized_tests ${program})
    set(T_LABEL "${T_LABEL};reader")
  else()
    add_dependencies(optimised_tests ${program})
  endif()
  if(GAPLESS_TEST_SHARDS)
    gapless_test_in_shards(${program} "${T_LABEL}")
  else()
    list(REMOVE_ITEM T_LABEL reader)  # no run of CI
    gtest_discover_tests(${program} DISCOVERY_MODE PRE_TEST WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                         TEST_PREFIX "${program}: " PROPERTIES TIMEOUT 1200 LABELS ${T_LABEL})
  endif()
endfunction()

# GoogleTest deals the cases out in turn, so the shards take about as long as each other.
function(gapless_test_in_shards program label)
  math(EXPR last "${GAPLESS_TEST_SHARDS} - 1")
  foreach(shard RANGE ${last})
    math(EXPR number "${shard} + 1")
    set(name "${program}: shard ${number} of ${GAPLESS_TEST_SHARDS}")
    add_test(NAME ${name} COMMAND ${program} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES TIMEOUT 1200 LABELS "${label}"
                         ENVIRONMENT "GTEST_TOTAL_SHARDS=${GAPLESS_TEST_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

# Every room there is, as libraries to link: what the program, the end-to-end tests, the benchmarks and the fuzzers use.
function(gapless_all_rooms out)
  set(rooms "")
  foreach(room IN LISTS GAPLESS_ROOMS)
    if(TARGET gapless_${room})
      list(PREPEND rooms gapless_${room})
    endif()
  endforeach()
  set(${out} ${rooms} PARENT_SCOPE)
endfunction()
