# Contents of `cmake --install` and the Debian package: the program, its man pages and completion, the job scripts with
# their settings, example configurations, files for monitoring, the pages, the Python package and the licence.
include(GNUInstallDirs)
set(shared ${CMAKE_INSTALL_DATADIR}/eventloom)
set(packaging ${CMAKE_CURRENT_LIST_DIR})

install(TARGETS eventloom eventloom-view eventloom-tools RUNTIME)
if(TARGET eventloom-simulator)
  install(TARGETS eventloom-simulator RUNTIME)
endif()

find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND)
  set(man ${PROJECT_BINARY_DIR}/man)
  add_custom_command(
    OUTPUT ${man}/eventloom.1
    COMMAND ${Python3_EXECUTABLE} ${packaging}/make_man.py $<TARGET_FILE:eventloom> ${man}
    DEPENDS eventloom eventloom-view eventloom-tools ${packaging}/make_man.py VERBATIM)
  if(NOT EVENTLOOM_SANITIZE)
    add_custom_target(eventloom_man ALL DEPENDS ${man}/eventloom.1)
  endif()
  install(DIRECTORY ${man}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL FILES_MATCHING PATTERN *.1)
else()
  message(STATUS "eventloom: without Python 3 (Debian python3): no man pages")
endif()
install(FILES ${packaging}/eventloom.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME eventloom)
install(FILES ${packaging}/_eventloom DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

set(jobs ${PROJECT_SOURCE_DIR}/jobs)
install(PROGRAMS ${jobs}/bench_sweep.sbatch ${jobs}/chain.sh ${jobs}/convert.sbatch ${jobs}/end_hung_mpirun.sh
                 ${jobs}/keep_running.sh ${jobs}/live.sbatch ${jobs}/mbs_acquisition.py
                 ${jobs}/merge.sbatch ${jobs}/network_study.sh ${jobs}/replay.sbatch
        DESTINATION ${shared}/jobs)
install(FILES ${jobs}/bench_table.py ${jobs}/cluster.conf ${jobs}/efficiency.py ${jobs}/job_functions.sh ${jobs}/restarts.bash
        DESTINATION ${shared}/jobs)
install(DIRECTORY ${jobs}/examples ${jobs}/monitoring DESTINATION ${shared}/jobs)

# All pages and the files they link to, in the same folders, so that links remain valid.
set(pages README.md CITATION.cff LICENSE .editorconfig .ci/run
          .github/CONTRIBUTING.md .github/HACKING.md .github/SECURITY.md .github/workflows/ci.yml
          jobs/packaging/eventloom.def jobs/packaging/spack/package.py)
foreach(folder app core formats io jobs schedulers)
  file(GLOB_RECURSE found RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.md
       ${PROJECT_SOURCE_DIR}/${folder}/*.png)
  list(APPEND pages ${found})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/io/python DESTINATION ${shared}/io
        FILES_MATCHING PATTERN *.py PATTERN *.toml PATTERN py.typed PATTERN LICENSE
        PATTERN __pycache__ EXCLUDE PATTERN build EXCLUDE PATTERN *.egg-info EXCLUDE)
foreach(page ${pages})
  get_filename_component(folder ${page} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${page} DESTINATION ${shared}/${folder})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "the Eventloom developers <eventloom@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "builds events of many detectors' data streams, in parallel")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS openmpi-bin)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3, gnuplot-nox")
include(CPack)
