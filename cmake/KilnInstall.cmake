# `cmake --install`: the library, its headers, the program, and the package that find_package(Kiln) reads.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Kiln)
install(TARGETS kiln EXPORT KilnTargets)
install(TARGETS kiln_program)
install(DIRECTORY include/kiln DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT KilnTargets NAMESPACE Kiln:: DESTINATION ${package_folder})
configure_package_config_file(cmake/KilnConfig.cmake.in KilnConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(KilnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/KilnConfig.cmake ${PROJECT_BINARY_DIR}/KilnConfigVersion.cmake
        DESTINATION ${package_folder})
