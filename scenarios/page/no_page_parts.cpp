#include "scenarios/page/page_parts.h"

namespace podsim::scenarios {

std::string_view page_template() {
    return {};
}

std::string_view page_style() {
    return {};
}

std::string_view page_unpacker() {
    return {};
}

std::string_view page_script() {
    return {};
}

std::string_view page_library() {
    return {};
}

}  // namespace podsim::scenarios
