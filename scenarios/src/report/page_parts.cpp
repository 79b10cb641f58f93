#include "scenarios/src/report/page_parts.h"

#include <cstddef>

// The bytes of a file below the checkout, between two symbols. The assembler finds it by the
// build's -Wa,-I. g++ 12 and clang 14 have no other means (#embed is C++26).
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define PODSIM_FILE(name, path)                                                                \
    extern "C" const char podsim_##name[];                                                     \
    extern "C" const char podsim_##name##_end[];                                               \
    asm(".pushsection .rodata\n.global podsim_" #name "\n.global podsim_" #name                \
        "_end\npodsim_" #name ":\n.incbin \"scenarios/src/report/" path "\"\npodsim_" #name    \
        "_end:\n.popsection\n");                                                               \
    std::string_view page_##name() {                                                           \
        return {podsim_##name, static_cast<std::size_t>(podsim_##name##_end - podsim_##name)}; \
    }

namespace podsim::scenarios {

PODSIM_FILE(template, "web/template.html")
PODSIM_FILE(style, "web/page.css")
PODSIM_FILE(unpacker, "web/unpack.js")
PODSIM_FILE(script, "bundle/page.js.gz")
PODSIM_FILE(library, "bundle/plotly.min.js.gz")

}  // namespace podsim::scenarios
