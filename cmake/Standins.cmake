# Libraries that stand in for those of a GPU's vendor, so that what opens them at run time is tested on machines without.
# Each is one source in tests/standins/, built as lib<name>.so.1 into <build>/standins. Only tests use them.
function(gapless_standin name source test)
  if(NOT BUILD_TESTING OR NOT TARGET ${test})
    return()
  endif()
  add_library(standin_${source} MODULE ${PROJECT_SOURCE_DIR}/tests/standins/${source}.cc)
  set_target_properties(standin_${source} PROPERTIES PREFIX "" OUTPUT_NAME ${name} SUFFIX ".so.1"
                        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/standins)
  target_link_libraries(standin_${source} PRIVATE gapless_options)
  add_dependencies(${test} standin_${source})
  target_compile_definitions(${test} PRIVATE GAPLESS_STANDINS="${PROJECT_BINARY_DIR}/standins")
endfunction()
