# How every Lowtide target is built. A library is its folder: all *.cc beside its CMakeLists.txt and
# in the named subfolders, with *_test.cc compiled into <name>_test.

option(LOWTIDE_TESTS "Build the tests" ON)
option(LOWTIDE_BENCH "Build the benchmarks" OFF)
option(LOWTIDE_FUZZ "Build the fuzz targets with libFuzzer (clang)" OFF)
set(LOWTIDE_SANITIZE "" CACHE STRING "Sanitizers for every target, e.g. address,undefined")

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(LOWTIDE_CCACHE ccache)
if(LOWTIDE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${LOWTIDE_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${LOWTIDE_CCACHE})
endif()

add_library(lowtide_options INTERFACE)
target_compile_options(lowtide_options INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Werror
  # g++ 12 sees overlapping copies in std::string at -O2 where there are none (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  # Paths in messages and debug data are relative, so that caches and builds can be shared.
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms of gcc 12 when it optimises std::string and std::optional (GCC bugs 105651, 80635);
  # clang-tidy and the sanitizers look for what these warnings are meant to find.
  target_compile_options(lowtide_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
target_include_directories(lowtide_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
if(LOWTIDE_SANITIZE)
  target_compile_options(lowtide_options INTERFACE
    -fsanitize=${LOWTIDE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(lowtide_options INTERFACE -fsanitize=${LOWTIDE_SANITIZE})
endif()
if(LOWTIDE_FUZZ)
  target_compile_options(lowtide_options INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(lowtide_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# lowtide_library(name [FOLDERS sub...] [DEPENDS target...] [PRIVATE_DEPENDS target...]
#                 [TEST_DEPENDS target...] [TEST_LABELS label...])
function(lowtide_library name)
  cmake_parse_arguments(ARG "" "" "FOLDERS;DEPENDS;PRIVATE_DEPENDS;TEST_DEPENDS;TEST_LABELS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  file(GLOB tests CONFIGURE_DEPENDS *_test.cc)
  foreach(folder IN LISTS ARG_FOLDERS)
    file(GLOB more CONFIGURE_DEPENDS ${folder}/*.cc)
    file(GLOB more_tests CONFIGURE_DEPENDS ${folder}/*_test.cc)
    list(APPEND sources ${more})
    list(APPEND tests ${more_tests})
  endforeach()
  if(tests)
    list(REMOVE_ITEM sources ${tests})
  endif()
  if(sources)
    add_library(lowtide_${name} STATIC ${sources})
    target_link_libraries(lowtide_${name} PUBLIC ${ARG_DEPENDS} PRIVATE lowtide_options ${ARG_PRIVATE_DEPENDS})
    target_include_directories(lowtide_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  else()
    add_library(lowtide_${name} INTERFACE)
    target_link_libraries(lowtide_${name} INTERFACE ${ARG_DEPENDS})
  endif()
  if(LOWTIDE_TESTS AND tests)
    lowtide_test(${name}_test SOURCES ${tests} DEPENDS lowtide_${name} ${ARG_TEST_DEPENDS}
      LABELS ${ARG_TEST_LABELS})
  endif()
endfunction()

# Builds the tests labelled threads, and nothing else.
add_custom_target(thread_tests)

# lowtide_test(name SOURCES file... [DEPENDS target...] [LABELS label...]): a GoogleTest binary whose
# tests are found when ctest runs. The repository root is its working directory. Labels: fast (the
# default), threads (also run under ThreadSanitizer).
function(lowtide_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE lowtide_options ${ARG_DEPENDS} GTest::gmock GTest::gtest_main)
  if(NOT ARG_LABELS)
    set(ARG_LABELS fast)
  endif()
  if("threads" IN_LIST ARG_LABELS)
    add_dependencies(thread_tests ${name})
  endif()
  # gtest_discover_tests can pass on only one label; ctest -L matches a part of it.
  list(JOIN ARG_LABELS "," ARG_LABELS)
  gtest_discover_tests(${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300)
endfunction()
