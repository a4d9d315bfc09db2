# Unit tests of all that starts threads beside the roles, with the sources that these threads run built for the thread
# sanitizer: a second build of a fifth of the program. They take precedence over the same sources in the libraries.
file(GLOB with_threads CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/io/live/*.cpp ${PROJECT_SOURCE_DIR}/io/mbs/*.cpp ${PROJECT_SOURCE_DIR}/io/trb/*.cpp
  ${PROJECT_SOURCE_DIR}/io/udp/*.cpp ${PROJECT_SOURCE_DIR}/io/serve/mbs_*.cpp)
list(APPEND with_threads
  ${PROJECT_SOURCE_DIR}/app/observe/alarm_command.cpp
  ${PROJECT_SOURCE_DIR}/app/observe/http_connection.cpp
  ${PROJECT_SOURCE_DIR}/app/observe/http_server.cpp
  ${PROJECT_SOURCE_DIR}/app/observe/monitor.cpp
  ${PROJECT_SOURCE_DIR}/core/runtime/activity.cpp
  ${PROJECT_SOURCE_DIR}/core/runtime/watchdog.cpp
  ${PROJECT_SOURCE_DIR}/io/epochs/followed_stream_file.cpp
  ${PROJECT_SOURCE_DIR}/io/files/followed_files.cpp
  ${PROJECT_SOURCE_DIR}/io/recorded/encoded_stream.cpp
  ${PROJECT_SOURCE_DIR}/io/run_output/part_writer.cpp)
add_library(live_threads OBJECT EXCLUDE_FROM_ALL ${with_threads})
target_compile_options(live_threads PRIVATE -O1 -g1 -fsanitize=thread -Wno-tsan)
target_include_directories(live_threads PRIVATE ${HDF5_C_INCLUDE_DIRS})
target_compile_definitions(live_threads PRIVATE H5_USE_110_API)
target_link_libraries(live_threads PRIVATE eventloom::observe eventloom::io PkgConfig::PACKED)

# live_threads_test(NAME SOURCES...): the tests themselves are compiled as usual: what they access is not seen.
function(live_threads_test name)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/tests/unit/)
  add_executable(${name} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:live_threads> ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/unit ${HDF5_C_INCLUDE_DIRS})
  foreach(folder epochs hdf5 lmd)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/unit/io/${folder})
  endforeach()
  target_compile_definitions(${name} PRIVATE TEST_DATA_DIR="${PROJECT_SOURCE_DIR}/tests/data")
  target_precompile_headers(${name} REUSE_FROM eventloom_test_support)
  target_link_libraries(${name} PRIVATE eventloom::observe eventloom::io eventloom::test_support ${HDF5_C_LIBRARIES}
                        GTest::gtest_main)
  target_link_options(${name} PRIVATE -fsanitize=thread -Wl,-z,muldefs)
  # Helpers of different tests have the same names.
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
endfunction()
live_threads_test(live_threads_files io/live/followed_epochs_test.cpp)
live_threads_test(live_threads_test
  app/observe/alarm_command_test.cpp
  app/observe/server_parts_test.cpp
  core/watchdog_test.cpp
  io/live/encoded_feed_test.cpp
  io/mbs/mbs_feed_test.cpp
  io/mbs/mbs_reader_test.cpp
  io/run_output/part_writer_test.cpp
  io/run_output/run_maker.cpp
  io/serve/tap_test.cpp
  io/trb/trb_feed_test.cpp
  io/udp/board_maker.cpp
  io/udp/other_boards_test.cpp
  io/udp/resend_test.cpp
  io/udp/udp_feed_test.cpp)

# The build shares its folder with another one.
add_test(NAME sanitize.threads COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/live_threads.sh ${PROJECT_BINARY_DIR})
set_tests_properties(sanitize.threads PROPERTIES LABELS "sanitize;long" TIMEOUT 1800 PROCESSORS 2 RESOURCE_LOCK build_folder)
