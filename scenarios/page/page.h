// A result as a page to look at: one HTML file that holds everything it needs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

/// The most that a page weighs; data are thinned to fit.
inline constexpr std::size_t kMostPageBytes = 3'000'000;

/// What a page shows. `result` is what --json writes, as it is; `extra` what only the page has.
struct Page {
    std::string_view
        kind;  ///< `run`, `program`, `sweep`, `compare`, `collective`: which script draws it
    std::string title;
    Json result;
    Json extra = Json::object();
};

/// The file.
std::string page_html(const Page& page);

}  // namespace podsim::scenarios
