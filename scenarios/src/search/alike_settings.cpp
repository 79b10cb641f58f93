// Finds settings that are one plan on the same meshes, and counts the plans of a search.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/search/search_space.h"
#include "workloads/plan/axis_names.h"

namespace podsim::scenarios {

std::uint64_t SearchSpace::plans() const {
    std::uint64_t plans = 0;
    for (std::uint32_t machine = 0; machine < machines_.size(); ++machine) {
        std::vector<std::uint32_t> settings;
        for (std::uint32_t setting = 0; setting < settings_; ++setting) {
            if (machine_of_[setting] == machine) {
                settings.push_back(setting);
            }
        }
        plans += machines_[machine].meshes == nullptr
                     ? settings.size()
                     : plans_of(*machines_[machine].meshes, settings,
                                [&](std::uint32_t setting, const MeshSpace::Class& sizes) {
                                    return repeated(setting, sizes).has_value();
                                });
    }
    return plans;
}

std::uint64_t SearchSpace::plans_of(
    const MeshSpace& meshes, std::span<const std::uint32_t> settings,
    const std::function<bool(std::uint32_t, const MeshSpace::Class&)>& is_repeated) const {
    // Classes for which the same keys are idle are alike: one of them stands for all.
    std::map<std::vector<bool>, std::pair<const MeshSpace::Class*, std::uint64_t>> kinds;
    for (const MeshSpace::Class& sizes : meshes.classes()) {
        std::vector<bool> idle;
        for (const Varied& varied : spec_.varied) {
            idle.push_back(is_idle(varied, meshes, sizes));
        }
        kinds.try_emplace(idle, &sizes, 0).first->second.second += sizes.meshes.size();
    }
    std::uint64_t plans = 0;
    for (const auto& [idle, kind] : kinds) {
        const auto& [sizes, count] = kind;
        std::map<std::vector<std::size_t>, bool> counted;  // by the values of idle keys
        for (const std::uint32_t setting : settings) {
            std::vector<std::size_t> values = choice(setting);
            for (std::size_t key = 0; key < values.size(); ++key) {
                values[key] = idle[key] ? values[key] : 0;
            }
            const auto [found, is_new] = counted.try_emplace(std::move(values), true);
            if (is_new) {
                found->second = !is_repeated(setting, *sizes);
            }
            plans += found->second ? count : 0;
        }
    }
    return plans;
}

/// True if a key has no effect on these meshes, whatever its value.
bool SearchSpace::is_idle(const Varied& varied, const MeshSpace& meshes,
                          const MeshSpace::Class& sizes) const {
    return spec_.mesh &&
           std::ranges::any_of(std::array{workloads::axis::tensor, workloads::axis::context},
                               [&](std::string_view axis) {
                                   constexpr std::string_view kSection = "overlap.";
                                   return varied.key.starts_with(kSection) &&
                                          varied.key.substr(kSection.size()) == axis &&
                                          meshes.size_of(sizes, axis) == 1;
                               });
}

/// Returns the setting with the first value of each idle key.
std::uint32_t SearchSpace::first_alike(std::uint32_t setting, const MeshSpace::Class& sizes) const {
    const std::vector<std::size_t> chosen = choice(setting);
    std::uint32_t first = setting;
    std::uint32_t settings_of_a_value = 1;
    for (std::size_t key = chosen.size(); key-- > 0;) {
        const Varied& varied = spec_.varied[key];
        if (is_idle(varied, *meshes(setting), sizes)) {
            first -= static_cast<std::uint32_t>(chosen[key]) * settings_of_a_value;
        }
        settings_of_a_value *= static_cast<std::uint32_t>(varied.values.size());
    }
    return first;
}

std::optional<std::uint32_t> SearchSpace::repeated(std::uint32_t setting,
                                                   const MeshSpace::Class& sizes) const {
    const std::uint32_t first = first_alike(setting, sizes);
    if (first == setting) {
        return std::nullopt;
    }
    const auto why_refused = [&](std::uint32_t one) -> std::string {
        try {
            static_cast<void>(
                load_scenario(with_mesh(tree_of(one), one, sizes.meshes.front()), path_));
            return {};
        } catch (const sim::InputError& error) {
            return reason_of(error);
        }
    };
    // An invalid value is counted with its reason, on these meshes too.
    return why_refused(setting) == why_refused(first) ? std::optional(first) : std::nullopt;
}

}  // namespace podsim::scenarios
