# Writes OUT, the C++ file that returns the commit of SOURCE: cmake -DSOURCE=... -DOUT=... -P commit.cmake
# OUT is touched only if the commit has changed, so that nothing else is compiled. The commit is empty if SOURCE is no repository
# (an archive of the sources); the repository of a folder above is not asked.
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
#include "scenarios/src/cli/cli.h"

namespace podsim::scenarios {

std::string_view commit() {
    return "@commit@";
}

}  // namespace podsim::scenarios
]])
