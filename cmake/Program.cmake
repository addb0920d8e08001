# The program: src/cli/main.cc and every room below. Only libc stays outside it.
if(NOT EXISTS ${PROJECT_SOURCE_DIR}/src/cli/main.cc OR NOT TARGET gapless_cli)
  return()
endif()
add_executable(gapless ${PROJECT_SOURCE_DIR}/src/cli/main.cc)
target_link_libraries(gapless PRIVATE gapless_cli gapless_options)
if(NOT GAPLESS_SANITIZE)
  target_link_options(gapless PRIVATE -static-libstdc++ -static-libgcc -Wl,--as-needed -Wl,--gc-sections)
endif()

include(GNUInstallDirs)
install(TARGETS gapless RUNTIME)
foreach(page IN ITEMS docs/man/gapless.1:${CMAKE_INSTALL_MANDIR}/man1
                      docs/completion/gapless.bash:${CMAKE_INSTALL_DATADIR}/bash-completion/completions
                      docs/completion/_gapless:${CMAKE_INSTALL_DATADIR}/zsh/site-functions
                      docs/completion/gapless.fish:${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
                      LICENSE:${CMAKE_INSTALL_DOCDIR} NOTICE:${CMAKE_INSTALL_DOCDIR})
  string(REPLACE ":" ";" pair ${page})
  list(GET pair 0 file)
  list(GET pair 1 folder)
  install(FILES ${PROJECT_SOURCE_DIR}/${file} DESTINATION ${folder} OPTIONAL)
endforeach()
