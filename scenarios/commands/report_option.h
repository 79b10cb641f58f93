// --report: the result as a page.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "scenarios/console/usage.h"
#include "scenarios/page/page.h"

namespace podsim::scenarios {

void add_report_option(Usage& usage);

/// The path of --report, empty without it. Throws sim::InputError where nothing can be written there.
std::string report_path(const Usage& options);

/// Writes the page there. Throws sim::InputError where not all of it arrived.
void write_report(const Page& page, const std::string& path);

/// The same of a page that can be thinned: make(most) is asked for at most so many pieces, for fewer and fewer until the page is
/// no larger than kMostPageBytes.
void write_fitting_report(const std::string& path, std::size_t most,
                          const std::function<Page(std::size_t most)>& make);

}  // namespace podsim::scenarios
