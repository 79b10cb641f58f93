// `podsim list`: what the catalogues hold.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>

#include "scenarios/catalogue/catalogue.h"
#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/console/output.h"
#include "sim/base/error.h"

namespace podsim::scenarios {

Usage list_usage() {
    Usage usage(
        "list chips|models|scenarios|algorithms|remat [NAME] [--json PATH|-]",
        "Lists what the catalogues hold, or all of one entry with its sources. Scenarios are\n"
        "looked for in the folder scenarios/ of the current folder, then beside the executable\n"
        "and above it, then in share/podsim/ of where podsim is installed.",
        "podsim list chips v5p");
    usage.file("json", "write it as JSON to a file, or alone to standard output (-)");
    usage.positional("WHAT", 2);
    std::vector<std::string> names;
    for (const Catalogue& catalogue : catalogues()) {
        names.emplace_back(catalogue.name);
    }
    usage.offer("WHAT", names);
    return usage;
}

int command_list(Arguments args, std::ostream& out, std::ostream& /*err*/) {
    Usage options = list_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const std::vector<std::string> wanted = options.all("WHAT");
    const std::string json = output_path(options, "json");
    if (wanted.empty()) {
        std::vector<std::string_view> names;
        for (const Catalogue& catalogue : catalogues()) {
            names.push_back(catalogue.name);
        }
        throw sim::InputError("list what?", fmt::format("allowed: {}", fmt::join(names, ", ")));
    }
    const Catalogue& catalogue = find_catalogue(wanted.front());
    std::vector<CatalogueEntry> entries;
    if (wanted.size() > 1) {
        entries.push_back(find_entry(catalogue, wanted[1]));
    } else if (!json.empty()) {
        entries = catalogue.entries();
    }
    if (json != "-") {
        out << (wanted.size() > 1 ? entry_text(entries.front()) : catalogue.table());
    }
    if (!json.empty()) {
        write_json(catalogue_json(catalogue, entries), json, out);
    }
    return kDone;
}

}  // namespace podsim::scenarios
