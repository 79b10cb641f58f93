#include "scenarios/src/cli/completion.h"

#include <algorithm>

#include "sim/base/nearest.h"

namespace podsim::scenarios {
namespace {

struct Shell {
    std::string_view name;
    std::string (*script)(const Manual& manual);
};
constexpr Shell kShells[] = {
    {"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};

}  // namespace

std::vector<std::string> completed_shells() {
    std::vector<std::string> names;
    for (const Shell& shell : kShells) {
        names.emplace_back(shell.name);
    }
    return names;
}

std::string completion_script(const std::string& shell, const Manual& manual) {
    const auto* const found = std::ranges::find(kShells, shell, &Shell::name);
    if (found == std::end(kShells)) {
        throw sim::unknown_name("shell", shell, completed_shells()).at({"--completion", 0, 0});
    }
    return found->script(manual);
}

}  // namespace podsim::scenarios
