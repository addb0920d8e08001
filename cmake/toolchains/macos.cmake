# The compiler of the library for macOS on ARM: zig's clang, with libc++ and the headers of macOS that zig brings
# (tools/wheel/macos.sh, which writes the wrappers into GAPLESS_ZIG).
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GAPLESS_ZIG)
set(CMAKE_CXX_COMPILER ${GAPLESS_ZIG}/zig-c++)
set(CMAKE_AR ${GAPLESS_ZIG}/zig-ar)
set(CMAKE_RANLIB ${GAPLESS_ZIG}/zig-ranlib)
# CMake asks for Apple's tools and its folder of headers, which zig needs neither of.
set(CMAKE_INSTALL_NAME_TOOL true)
set(CMAKE_OSX_SYSROOT "")
set(CMAKE_OSX_DEPLOYMENT_TARGET "")
set(CMAKE_OSX_ARCHITECTURES "")
set(CMAKE_CXX_LINK_LIBRARY_USING_WHOLE_ARCHIVE_SUPPORTED TRUE)
set(CMAKE_CXX_LINK_LIBRARY_USING_WHOLE_ARCHIVE "LINKER:-force_load,<LINK_ITEM>")
