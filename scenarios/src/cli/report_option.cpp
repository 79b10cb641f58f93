#include "scenarios/src/cli/report_option.h"

#include "scenarios/src/cli/output.h"

namespace podsim::scenarios {

void add_report_option(Usage& usage) {
    usage.file("report",
               "write a page with charts to a file: HTML of at most 3 MB that needs no network");
}

std::string report_path(const Usage& options) {
    std::string path = output_path(options, "report");
    refuse_dash("--report", path);
    return path;
}

void write_report(const Page& page, const std::string& path) {
    write_file("--report", path, page_html(page));
}

void write_fitting_report(const std::string& path, std::size_t most,
                          const std::function<Page(std::size_t most)>& make) {
    std::string html = page_html(make(most));
    while (html.size() > kMostPageBytes && most > 1) {
        most /= 2;
        html = page_html(make(most));
    }
    write_file("--report", path, html);
}

}  // namespace podsim::scenarios
