# What `cmake --install` puts under the prefix besides the programs: bin/lowtide needs none of it.
install(FILES README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md LICENSE NOTICE
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Not docs/: its README.md is not the project's.
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS
  PATTERN "CMakeLists.txt" EXCLUDE PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY data DESTINATION ${CMAKE_INSTALL_DATADIR}/lowtide)
install(DIRECTORY python/lowtide DESTINATION ${CMAKE_INSTALL_DATADIR}/lowtide/python
  FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)

# The pages link to data, headers and the Python package where they stand in the repository.
function(lowtide_install_link name to)
  install(CODE "
    set(doc \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\")
    file(RELATIVE_PATH to \"/${CMAKE_INSTALL_DOCDIR}\" \"/${to}\")
    file(CREATE_LINK \"\${to}\" \"\${doc}/${name}\" SYMBOLIC)")
endfunction()
lowtide_install_link(data ${CMAKE_INSTALL_DATADIR}/lowtide/data)
lowtide_install_link(python ${CMAKE_INSTALL_DATADIR}/lowtide/python)
lowtide_install_link(include ${CMAKE_INSTALL_INCLUDEDIR})

# Written by the program itself, so that they name the options that it has.
set(completions)
foreach(shell bash zsh fish)
  set(script ${CMAKE_BINARY_DIR}/completions/${shell})
  add_custom_command(OUTPUT ${script}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/completions
    COMMAND lowtide completion ${shell} > ${script}
    DEPENDS lowtide VERBATIM)
  list(APPEND completions ${script})
endforeach()
add_custom_target(completions ALL DEPENDS ${completions})
install(FILES ${CMAKE_BINARY_DIR}/completions/bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME lowtide)
install(FILES ${CMAKE_BINARY_DIR}/completions/zsh
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _lowtide)
install(FILES ${CMAKE_BINARY_DIR}/completions/fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME lowtide.fish)
