# Writes OUT, the C++ file that says the commit of SOURCE: cmake -DSOURCE=... -DOUT=... -P commit.cmake
# It is touched only when the commit is another, so that nothing else is compiled. Without a repository there (an archive
# of the sources) the commit is empty; the repository of a folder above is not asked.
set(commit "")
find_program(git git)
if(git AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${git} --no-optional-locks describe --always --dirty --exclude=* --abbrev=12
    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE said ERROR_QUIET RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed)
    set(commit ${said})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[
// Made by cmake/commit.cmake.
#include "scenarios/console/commit.h"

namespace podsim::scenarios {

std::string_view commit() {
    return "@commit@";
}

}  // namespace podsim::scenarios
]])
