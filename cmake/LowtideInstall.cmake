# What `cmake --install` puts under the prefix besides the programs: bin/lowtide needs none of it.
install(FILES README.md ARCHITECTURE.md CHANGELOG.md LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Not docs/: its README.md is not the project's.
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS
  PATTERN "CMakeLists.txt" EXCLUDE PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY data DESTINATION ${CMAKE_INSTALL_DATADIR}/lowtide)
install(DIRECTORY python/lowtide DESTINATION ${CMAKE_INSTALL_DATADIR}/lowtide/python
  FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
