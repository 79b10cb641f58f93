// The content of manuals and completions, as the commands declare it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/src/cli/usage.h"

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

/// Returns the keys of scenarios that are written exactly as declared: their paths leave no name
/// open.
std::vector<std::string> written_out_keys();

/// Returns those of these keys whose values are names, or may be, with the names.
std::vector<std::pair<std::string, std::vector<std::string>>> names_under_keys();

}  // namespace podsim::scenarios
