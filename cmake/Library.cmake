# The C++ library: every room but the command line as libgapless, with the headers of include/gapless/ and what CMake and
# pkg-config need to find it. Built with everything, but not for the program, which stays one static file.
if(NOT TARGET gapless_api OR GAPLESS_FUZZ)
  return()
endif()
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# What may change between two versions with the same name: until 1.0 nothing but the last number.
set(abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(compatible SameMinorVersion)
if(PROJECT_VERSION_MAJOR GREATER 0)
  set(abi ${PROJECT_VERSION_MAJOR})
  set(compatible SameMajorVersion)
endif()

file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/gapless/*.h)
add_library(gapless_shared SHARED)
set_target_properties(gapless_shared PROPERTIES
  OUTPUT_NAME gapless EXPORT_NAME gapless LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${abi}
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/api/exports.map)
target_sources(gapless_shared PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${headers})
target_compile_features(gapless_shared INTERFACE cxx_std_20)
target_link_libraries(gapless_shared PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,gapless_api>)
# The distribution's archives were not made for shared libraries. They fit in because exports.map keeps their symbols
# local: nothing outside can take the place of what they address directly.
if(NOT APPLE)  # there, what is not marked is hidden, and what nobody calls is left out, without being asked
  target_link_options(gapless_shared PRIVATE LINKER:--gc-sections LINKER:--as-needed
                      LINKER:--version-script=${PROJECT_SOURCE_DIR}/src/api/exports.map)
endif()
if(NOT GAPLESS_SANITIZE AND NOT APPLE)
  target_link_options(gapless_shared PRIVATE LINKER:--no-undefined)
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/gapless)
install(TARGETS gapless_shared EXPORT gapless_targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT gapless_targets NAMESPACE gapless:: FILE gaplessTargets.cmake DESTINATION ${package})
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/gaplessConfig.cmake @ONLY CONTENT
"include(\${CMAKE_CURRENT_LIST_DIR}/gaplessTargets.cmake)
")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/gaplessConfigVersion.cmake COMPATIBILITY ${compatible})
install(FILES ${PROJECT_BINARY_DIR}/package/gaplessConfig.cmake ${PROJECT_BINARY_DIR}/package/gaplessConfigVersion.cmake
        DESTINATION ${package})

# The prefix is where the file is found, so that an installation can be moved.
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" up "${up}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/gapless.pc @ONLY CONTENT
"prefix=\${pcfiledir}/@up@
includedir=\${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
libdir=\${prefix}/@CMAKE_INSTALL_LIBDIR@

Name: gapless
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Cflags: -I\${includedir}
Libs: -L\${libdir} -lgapless
")
install(FILES ${PROJECT_BINARY_DIR}/package/gapless.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
