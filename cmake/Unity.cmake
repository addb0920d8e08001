# Sources in batches: one compilation reads the headers for all of them. The program from nothing takes 406 s of a processor instead
# of 622; a single change costs more, so the preset `debug` compiles source by source (GAPLESS_UNITY=OFF), and so does clang-tidy,
# which thereby sees a source that includes too little.
#
# The sources of a batch share one unnamed namespace: what is local to a source needs a name that no other source of its room has,
# and a helper that two need has a header. The compiler says where that is not so. The files of extension points follow one
# pattern with the same local names, and each has a namespace of its own for them. Generated files are compiled alone.
option(GAPLESS_UNITY "Compile sources in batches" ON)
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
