# Sources in batches: one compilation reads the headers for all of them. A build from nothing takes half of the time, one after a
# change more: so CI compiles in batches, and people one by one (CMakePresets.json).
#
# The sources of a batch share one unnamed namespace, so a name that is local to a source must be the only one in its room; a
# helper that two need has a header. tools/check_local_names.py says where it is not. The files of extension points follow one
# pattern with the same local names: tools/batch_points.py writes their batches. Generated files are compiled alone.
option(GAPLESS_UNITY "Compile sources in batches: for builds from nothing" OFF)
set(GAPLESS_UNITY_BATCH 30 CACHE STRING "Sources of a batch")

# gapless_in_batches(<target>)
function(gapless_in_batches target)
  if(GAPLESS_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${GAPLESS_UNITY_BATCH})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Types of a source may hold types that are local to it. GCC takes the source for a header here and warns.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()

# gapless_compiled_alone(<source>...)
function(gapless_compiled_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# gapless_points_in_batches(<target> <name> <source>...): compiles the files of an extension point in batches of their own. The
# builds of the schedule and of people compile them from the files as they are.
function(gapless_points_in_batches target name)
  if(NOT GAPLESS_UNITY)
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(script ${PROJECT_SOURCE_DIR}/tools/batch_points.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script} ${ARGN})
  execute_process(COMMAND ${Python3_EXECUTABLE} ${script} ${PROJECT_BINARY_DIR}/generated/batches ${name} ${GAPLESS_UNITY_BATCH}
                          ${ARGN} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "(batch|alone) [^\n]+" lines "${lines}")
  set(alone ${lines})
  list(FILTER alone INCLUDE REGEX "^alone ")
  list(FILTER lines INCLUDE REGEX "^batch ")
  list(TRANSFORM lines REPLACE "^batch " "")
  list(TRANSFORM alone REPLACE "^alone " "")
  target_sources(${target} PRIVATE ${lines})
  gapless_compiled_alone(${lines})
  set(batched ${ARGN})
  list(REMOVE_ITEM batched ${alone})
  set_source_files_properties(${batched} PROPERTIES HEADER_FILE_ONLY ON)
endfunction()
