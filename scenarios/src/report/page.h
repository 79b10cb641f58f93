// A result as a page: one HTML file without external references.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "scenarios/src/base/json_text.h"

namespace podsim::scenarios {

/// Encodes bytes as RFC 4648 says.
std::string base64(std::string_view bytes);

/// Returns the text as gzip in base64. RFC 1952 without a time stamp: the same text gives the same
/// bytes.
std::string packed_text(std::string_view text);

/// Maximum size of a page; data are thinned to fit.
inline constexpr std::size_t kMostPageBytes = 3'000'000;

/// The content of a page. `result` is the document of --json, unchanged; `extra` is for the page
/// only.
struct Page {
    /// Selects the script that draws the page: `run`, `program`, `sweep`, `compare`, `collective`.
    std::string_view kind;
    std::string title;
    Json result;
    Json extra = Json::object();
};

/// Returns the HTML file.
std::string page_html(const Page& page);

}  // namespace podsim::scenarios
