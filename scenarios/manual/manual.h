// What manuals and completions say, as the commands declare it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/console/usage.h"

namespace podsim::scenarios {

/// An option of `podsim` itself.
struct GeneralOption {
    std::string_view name;  ///< without --
    char letter;
    std::string_view meaning;
};

struct DescribedCommand {
    std::string_view name;
    std::string_view summary;
    Usage usage;
};

struct Manual {
    std::string_view summary;
    std::string_view version;
    std::string_view example;
    std::span<const GeneralOption> options;
    std::vector<DescribedCommand> commands;
};

/// Keys of scenarios that are written as they are declared: none whose path leaves a name open.
std::vector<std::string> written_out_keys();

/// Those of them whose values, or some of them, are names, with these.
std::vector<std::pair<std::string, std::vector<std::string>>> names_under_keys();

}  // namespace podsim::scenarios
