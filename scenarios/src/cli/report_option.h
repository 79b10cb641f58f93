// --report: the result as a page.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "scenarios/src/cli/usage.h"
#include "scenarios/src/report/page.h"

namespace podsim::scenarios {

void add_report_option(Usage& usage);

/// Returns the path of --report, empty without it. Throws sim::InputError if it is not writable.
std::string report_path(const Usage& options);

/// Writes the page. Throws sim::InputError if it is not written in full.
void write_report(const Page& page, const std::string& path);

/// Writes a page that can be thinned. make(most) returns it with at most `most` items; `most` is
/// halved until the page is no larger than kMostPageBytes.
void write_fitting_report(const std::string& path, std::size_t most,
                          const std::function<Page(std::size_t most)>& make);

}  // namespace podsim::scenarios
