# The parts of a page (web/), packed into a C++ file by node. Sets `page_parts` to that file; without node, npm or the libraries to
# one that has none of them, and podsim says what to install when it is asked for a page.
set(web ${CMAKE_CURRENT_LIST_DIR}/web)
podsim_npm(page ${web})
if(npm_page)
  set(page_parts ${CMAKE_CURRENT_BINARY_DIR}/page_parts.cpp)
  file(GLOB web_files CONFIGURE_DEPENDS ${web}/*.js ${web}/*.css ${web}/*.html ${web}/*.mjs)
  add_custom_command(OUTPUT ${page_parts}
    COMMAND ${PODSIM_NODE} ${web}/build.mjs ${npm_page}/node_modules ${page_parts}
    DEPENDS ${web_files} ${npm_page}/installed VERBATIM)
  set_source_files_properties(${page_parts} PROPERTIES COMPILE_OPTIONS "-Wno-overlength-strings"
    SKIP_UNITY_BUILD_INCLUSION ON)
else()
  message(STATUS "podsim is built without pages (--report)")
  set(page_parts ${CMAKE_CURRENT_LIST_DIR}/no_page_parts.cpp)
endif()
