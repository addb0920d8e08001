# The program: src/cli/main.cc and every room below. Only libc stays outside it.
if(NOT EXISTS ${PROJECT_SOURCE_DIR}/src/cli/main.cc OR NOT TARGET gapless_cli)
  return()
endif()
add_executable(gapless ${PROJECT_SOURCE_DIR}/src/cli/main.cc)
target_link_libraries(gapless PRIVATE gapless_cli gapless_options)
if(NOT GAPLESS_SANITIZE)
  target_link_options(gapless PRIVATE -static-libstdc++ -static-libgcc -Wl,--as-needed -Wl,--gc-sections)
endif()

# Man page, completions, schemas and reference are written by the program itself.
set(pages ${PROJECT_BINARY_DIR}/pages)
if(NOT CMAKE_CROSSCOMPILING)
  add_custom_command(TARGET gapless POST_BUILD COMMAND gapless docs ${pages} --json=${PROJECT_BINARY_DIR}/pages.json VERBATIM)
endif()

include(GNUInstallDirs)
install(TARGETS gapless RUNTIME)
foreach(page IN ITEMS ${pages}/man/gapless.1:${CMAKE_INSTALL_MANDIR}/man1
                      ${pages}/completion/gapless.bash:${CMAKE_INSTALL_DATADIR}/bash-completion/completions
                      ${pages}/completion/_gapless:${CMAKE_INSTALL_DATADIR}/zsh/site-functions
                      ${pages}/completion/gapless.fish:${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
                      ${PROJECT_SOURCE_DIR}/LICENSE:${CMAKE_INSTALL_DOCDIR} ${PROJECT_SOURCE_DIR}/NOTICE:${CMAKE_INSTALL_DOCDIR})
  string(REPLACE ":" ";" pair ${page})
  list(GET pair 0 file)
  list(GET pair 1 folder)
  install(FILES ${file} DESTINATION ${folder} OPTIONAL)
endforeach()
