# Libraries of others. The program carries all of them, so it can be copied to a bare machine: static archives are taken first.
# Debian and Ubuntu ship simdjson, isa-l and cpp-httplib only as shared libraries; `make deps` builds the archives from the distribution's
# own source packages into build/deps, and that of RE2 in a form that a shared library can take. Without them the shared ones are used, which is good enough to develop with.
set(GAPLESS_DEPS ${PROJECT_SOURCE_DIR}/build/deps CACHE PATH "Where `make deps` puts static archives")

# gapless_library(<name> HEADER <header> ARCHIVE <file.a> SHARED <name>): imported target third_party::<name>.
function(gapless_library name)
  cmake_parse_arguments(L "" "HEADER;ARCHIVE;SHARED" "" ${ARGN})
  find_path(GAPLESS_${name}_INCLUDE ${L_HEADER} HINTS ${GAPLESS_DEPS}/include REQUIRED)
  find_library(GAPLESS_${name}_ARCHIVE NAMES ${L_ARCHIVE} HINTS ${GAPLESS_DEPS}/lib)
  if(GAPLESS_${name}_ARCHIVE)
    set(path ${GAPLESS_${name}_ARCHIVE})
  else()
    find_library(GAPLESS_${name}_SHARED NAMES ${L_SHARED} REQUIRED)
    set(path ${GAPLESS_${name}_SHARED})
    message(STATUS "=====================================================================================")
    message(STATUS "  ${L_ARCHIVE} was not found: linking the shared library. The program will NOT run on a")
    message(STATUS "  machine without it. `make deps` builds the archive; then run cmake again.")
    message(STATUS "=====================================================================================")
    unset(GAPLESS_${name}_ARCHIVE CACHE)
  endif()
  add_library(third_party::${name} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(third_party::${name} PROPERTIES IMPORTED_LOCATION ${path})
  if(NOT GAPLESS_${name}_INCLUDE STREQUAL "/usr/include")
    target_include_directories(third_party::${name} SYSTEM INTERFACE ${GAPLESS_${name}_INCLUDE})
  endif()
endfunction()

find_package(Threads REQUIRED)
gapless_library(simdjson HEADER simdjson.h ARCHIVE libsimdjson.a SHARED simdjson)
gapless_library(isal HEADER isa-l/igzip_lib.h ARCHIVE libisal.a SHARED isal)
gapless_library(zstd HEADER zstd.h ARCHIVE libzstd.a SHARED zstd)
gapless_library(sqlite3 HEADER sqlite3.h ARCHIVE libsqlite3.a SHARED sqlite3)
gapless_library(xxhash HEADER xxhash.h ARCHIVE libxxhash.a SHARED xxhash)
gapless_library(re2 HEADER re2/re2.h ARCHIVE libre2.a SHARED re2)
# The distribution's archive fits into the program, but not into libgapless: its thread-local data is that of programs.
if(NOT GAPLESS_re2_ARCHIVE MATCHES "^${GAPLESS_DEPS}/" AND NOT GAPLESS_FUZZ)
  message(STATUS "libre2.a is not from `make deps`: the program can be linked with it, the C++ library cannot")
endif()
gapless_library(yaml HEADER yaml.h ARCHIVE libyaml.a SHARED yaml)
gapless_library(httplib HEADER httplib.h ARCHIVE libcpp-httplib.a SHARED cpp-httplib)
# SQLite's archive needs the maths library and, for extensions, the dynamic loader; both belong to libc.
target_link_libraries(third_party::sqlite3 INTERFACE Threads::Threads m ${CMAKE_DL_LIBS})

# libpq is opened at run time, when a history in PostgreSQL is asked for: only its header is needed to build.
find_path(GAPLESS_libpq_INCLUDE libpq-fe.h PATH_SUFFIXES postgresql REQUIRED)
add_library(third_party::libpq_header INTERFACE IMPORTED GLOBAL)
target_include_directories(third_party::libpq_header SYSTEM INTERFACE ${GAPLESS_libpq_INCLUDE})

# What each room may use. CLI11 is headers only and needs no line; fmt and spdlog are used as headers by base alone,
# because Debian has no static archive of either.
function(gapless_use_third_party)
  set(base third_party::re2 third_party::simdjson Threads::Threads)
  set(trace third_party::xxhash third_party::zstd)
  set(ingest third_party::simdjson third_party::isal third_party::zstd third_party::sqlite3)
  set(query third_party::sqlite3)
  set(collect third_party::xxhash third_party::httplib Threads::Threads)
  set(store third_party::sqlite3 third_party::xxhash third_party::libpq_header ${CMAKE_DL_LIBS})
  set(optimize third_party::yaml)
  set(convert third_party::simdjson third_party::isal third_party::zstd)
  foreach(room IN LISTS GAPLESS_ROOMS)
    if(TARGET gapless_${room} AND DEFINED ${room})
      target_link_libraries(gapless_${room} PUBLIC ${${room}})
    endif()
  endforeach()
  if(TARGET gapless_base)
    target_compile_definitions(gapless_base PRIVATE FMT_HEADER_ONLY SPDLOG_FMT_EXTERNAL)
  endif()
endfunction()
