# The parts of a page (web/), packed into a C++ file by node. Sets `page_parts` to that file, PODSIM_PAGES and where npm has put
# the libraries (PODSIM_PAGE_MODULES); without node, npm or the libraries to a file that has none of them, and podsim says
# what to install when it is asked for a page.
find_program(PODSIM_NODE node)
find_program(PODSIM_NPM npm)
set(web ${CMAKE_CURRENT_LIST_DIR}/web)
set(npm_folder ${PROJECT_BINARY_DIR}/npm/page)
set(page_parts ${CMAKE_CURRENT_LIST_DIR}/no_page_parts.cpp)
set(PODSIM_PAGES OFF CACHE INTERNAL "Whether podsim has pages")
set(PODSIM_PAGE_MODULES ${npm_folder}/node_modules CACHE INTERNAL "What npm has installed for them")

if(PODSIM_NODE AND PODSIM_NPM)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${web}/package.json ${web}/package-lock.json)
  file(SHA256 ${web}/package-lock.json wanted)
  set(stamp ${npm_folder}/installed)
  set(found "")
  if(EXISTS ${stamp})
    file(READ ${stamp} found)
  endif()
  if(NOT found STREQUAL wanted)
    file(COPY ${web}/package.json ${web}/package-lock.json DESTINATION ${npm_folder})
    execute_process(COMMAND ${PODSIM_NPM} ci --ignore-scripts --prefer-offline --no-audit --no-fund
      WORKING_DIRECTORY ${npm_folder} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE why)
    if(failed)
      message(WARNING "npm ci has failed, so podsim is built without pages (--report):\n${why}")
    else()
      file(WRITE ${stamp} ${wanted})
      set(found ${wanted})
    endif()
  endif()
  if(found STREQUAL wanted)
    set(PODSIM_PAGES ON CACHE INTERNAL "Whether podsim has pages")
  endif()
else()
  message(STATUS "node or npm is missing: podsim is built without pages (--report)")
endif()

if(PODSIM_PAGES)
  set(page_parts ${CMAKE_CURRENT_BINARY_DIR}/page_parts.cpp)
  file(GLOB web_files CONFIGURE_DEPENDS ${web}/*.js ${web}/*.css ${web}/*.html ${web}/*.mjs)
  add_custom_command(OUTPUT ${page_parts}
    COMMAND ${PODSIM_NODE} ${web}/build.mjs ${PODSIM_PAGE_MODULES} ${page_parts}
    DEPENDS ${web_files} ${npm_folder}/installed VERBATIM)
  set_source_files_properties(${page_parts} PROPERTIES COMPILE_OPTIONS "-Wno-overlength-strings"
    SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
endif()
