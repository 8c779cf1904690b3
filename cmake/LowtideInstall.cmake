# What `cmake --install` puts under the prefix besides the programs: bin/lowtide needs none of it.
install(FILES README.md ARCHITECTURE.md CHANGELOG.md LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY data DESTINATION ${CMAKE_INSTALL_DATADIR}/lowtide)
install(DIRECTORY python/lowtide DESTINATION ${CMAKE_INSTALL_DATADIR}/lowtide/python
  FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
