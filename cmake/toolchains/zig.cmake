# The compiler of wheels: zig's clang with libc++ inside and the symbols of an old glibc (tools/wheel/build.sh, which writes the
# wrappers into GAPLESS_ZIG and says where libgcc.a of the target is).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${GAPLESS_ZIG_ARCH})
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GAPLESS_ZIG GAPLESS_ZIG_ARCH GAPLESS_LIBGCC)
set(CMAKE_CXX_COMPILER ${GAPLESS_ZIG}/zig-c++)
set(CMAKE_AR ${GAPLESS_ZIG}/zig-ar)
set(CMAKE_RANLIB ${GAPLESS_ZIG}/zig-ranlib)
# zig takes -O1, -O2 and -O3 all for -O2 and keeps frame pointers. A wheel holds everything twice, in the program and in the library: rooms
# that need no speed are made small, and what nobody calls is left out. That makes 10.9 MB of 12.4.
set(CMAKE_CXX_FLAGS_INIT "-fomit-frame-pointer -ffunction-sections -fdata-sections -Xclang -O3")
set(GAPLESS_PLAIN "SHELL:-Xclang -Os")
# The file system of libc++ needs a division of libgcc's. If zig's compiler_rt served it, that one object would bring memcpy, memset,
# exp and log of its own, which are slower than those of libc and round differently.
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT ${GAPLESS_LIBGCC})
set(CMAKE_EXE_LINKER_FLAGS_INIT "-pie -s")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-s")
# zig refuses --push-state, with which CMake takes a whole archive otherwise.
set(CMAKE_CXX_LINK_LIBRARY_USING_WHOLE_ARCHIVE_SUPPORTED TRUE)
set(CMAKE_CXX_LINK_LIBRARY_USING_WHOLE_ARCHIVE "LINKER:--whole-archive" "<LINK_ITEM>" "LINKER:--no-whole-archive")
