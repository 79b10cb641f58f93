#include "tests/checkout.h"

namespace podsim {

std::string source_folder() {
    return PODSIM_SOURCE_DIR;
}

std::string program_path() {
    return PODSIM_PROGRAM;
}

}  // namespace podsim
