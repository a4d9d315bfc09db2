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

add_custom_target(live_threads_tests)
foreach(program app_test core_tests io_epochs_test io_hdf5_tests io_live_test io_mbs_test io_serve_test io_trb_test io_udp_test)
  set(with live_threads_${program})
  add_executable(${with} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:live_threads> $<TARGET_OBJECTS:${program}>)
  target_link_libraries(${with} PRIVATE $<TARGET_PROPERTY:${program},LINK_LIBRARIES> eventloom::observe eventloom::io)
  target_link_options(${with} PRIVATE -fsanitize=thread -Wl,-z,muldefs)
  add_dependencies(live_threads_tests ${with})
endforeach()

# The build shares its folder with another one.
add_test(NAME sanitize.threads COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/live_threads.sh ${PROJECT_BINARY_DIR})
set_tests_properties(sanitize.threads PROPERTIES LABELS "sanitize;long" TIMEOUT 1800 PROCESSORS 2 RESOURCE_LOCK build_folder)
