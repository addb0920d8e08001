# What tests the whole rather than a room: programs of tests/, then goldens, scripts and end-to-end checks it adds itself.
if(NOT BUILD_TESTING)
  return()
endif()
file(GLOB_RECURSE whole_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*_test.cc)
list(REMOVE_ITEM whole_tests ${PROJECT_SOURCE_DIR}/tests/ledger_corpus_test.cc)  # one test of its own: tests/CMakeLists.txt
if(whole_tests)
  gapless_test(test_whole SOURCES ${whole_tests} LINK ${GAPLESS_ALL_ROOMS} LABEL corpus)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/tests/CMakeLists.txt)
  add_subdirectory(${PROJECT_SOURCE_DIR}/tests tests)
endif()
