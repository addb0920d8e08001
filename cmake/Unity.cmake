# Sources in batches: one compilation reads the headers for all of them. A build from nothing takes half of the time, one after a
# change more: so CI compiles in batches, and people one by one (CMakePresets.json).
#
# The sources of a batch share one unnamed namespace, so a name that is local to a source must be the only one in its room; a
# helper that two need has a header. tools/check_local_names.py says where it is not. Compiled alone are the files of extension
# points, which follow one pattern with the same local names (cmake/Registry.cmake), and generated ones.
option(GAPLESS_UNITY "Compile sources in batches: for builds from nothing" OFF)
set(GAPLESS_UNITY_BATCH 12 CACHE STRING "Sources of a batch")

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
