# The files of `cmake --install` and cpack (docs/install.md) in components: `program`, `mpi`, `development` and `python`
# (scenarios/src/python), which is installed only by its name.
set(modules ${CMAKE_INSTALL_LIBDIR}/podsim)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/podsim)

install(TARGETS podsim RUNTIME COMPONENT program)
install(DIRECTORY scenarios/book scenarios/examples scenarios/published scenarios/quickstart
  DESTINATION ${CMAKE_INSTALL_DATADIR}/podsim/scenarios COMPONENT program)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES README.md CHANGELOG.md LICENSE cmake/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
# The manual page and the completions, if target podsim_manual has made them.
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT program OPTIONAL)
if(TARGET podsim_mpi)
  install(TARGETS podsim_mpi LIBRARY DESTINATION ${modules} COMPONENT mpi)
endif()

# The libraries for find_package(podsim): podsim::sim and so on. Their users do not get the project's warnings, but the flag that
# keeps sums the same on every machine.
foreach(folder sim topology collectives workloads scenarios)
  install(TARGETS podsim_${folder} EXPORT podsim ARCHIVE COMPONENT development
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/podsim)
  set_target_properties(podsim_${folder} PROPERTIES EXPORT_NAME ${folder})
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/podsim COMPONENT development
    FILES_MATCHING PATTERN *.h PATTERN python EXCLUDE PATTERN web EXCLUDE
    PATTERN book EXCLUDE PATTERN examples EXCLUDE PATTERN published EXCLUDE PATTERN quickstart EXCLUDE)
endforeach()
target_compile_features(podsim_sim INTERFACE cxx_std_20)
target_compile_options(podsim_sim INTERFACE $<INSTALL_INTERFACE:-ffp-contract=off>)
install(EXPORT podsim NAMESPACE podsim:: FILE podsim-targets.cmake DESTINATION ${package} COMPONENT development)

include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/podsim-config.cmake.in ${PROJECT_BINARY_DIR}/podsim-config.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/podsim-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/podsim-config.cmake ${PROJECT_BINARY_DIR}/podsim-config-version.cmake
  DESTINATION ${package} COMPONENT development)

# The bill of materials of the program, beside the docs. It is written at installation, since it takes seconds.
find_package(Python 3.9 COMPONENTS Interpreter QUIET)
set(lock --lock ${PROJECT_SOURCE_DIR}/scenarios/src/report/web/package-lock.json)
set(binaries $<TARGET_FILE:podsim> "$<$<TARGET_EXISTS:podsim_mpi>:$<TARGET_FILE:podsim_mpi>>")
set(bom ${PROJECT_BINARY_DIR}/podsim.cdx.json)
if(Python_Interpreter_FOUND)
  install(CODE "execute_process(COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/sbom.py
    --build ${PROJECT_BINARY_DIR} --version ${PROJECT_VERSION} --out ${bom} ${lock} ${binaries} COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT program)
  install(FILES ${bom} DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
endif()

# Debian packages: podsim, podsim-mpi, podsim-dev. dpkg-shlibdeps finds the versions of their libraries.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "the authors of podsim")
set(CPACK_PACKAGE_CONTACT "the authors of podsim <podsim@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Simulates sharded training and inference steps on TPU pods")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME podsim)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "podsim-mpi, podsim-dev")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "The program, its library of scenarios, its documentation.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME podsim-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libboost-iostreams-dev, libboost-program-options-dev, \
libyaml-cpp-dev, libfmt-dev, libre2-dev, nlohmann-json3-dev, libeigen3-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "The libraries and headers, for find_package(podsim).")
if(TARGET podsim_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME podsim-mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "podsim (= ${PROJECT_VERSION}), openmpi-bin")
  set(CPACK_COMPONENT_MPI_DESCRIPTION "What sweeps under mpirun need.")
endif()
include(CPack)
