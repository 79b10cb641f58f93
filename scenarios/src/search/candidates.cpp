#include "scenarios/src/search/candidates.h"

#include <algorithm>
#include <map>
#include <utility>

namespace podsim::scenarios {

namespace {

/// Limits of the plans and settings of a piece, unless one setting alone has more plans: each
/// setting keeps a scenario's tree.
constexpr std::size_t kPlansOfPiece = 1U << 16U;
constexpr std::size_t kSettingsOfPiece = 256;

}  // namespace

Bounding::Bounding(const SearchSpace& space) : space_(space) {
    std::map<const MeshSpace*, std::size_t> numbers;
    for (std::uint32_t setting = 0; setting < space_.settings(); ++setting) {
        const MeshSpace* const meshes = space_.meshes(setting);
        const auto [known, is_new] = numbers.try_emplace(meshes, machines_.size());
        if (is_new) {
            machines_.emplace_back().meshes = meshes;
        }
        machines_[known->second].settings.push_back(setting);
    }
}

bool Bounding::list(std::size_t machine, const std::function<bool()>& stop) const {
    const MeshSpace* const meshes = machines_[machine].meshes;
    return meshes == nullptr || meshes->list(stop);
}

std::size_t Bounding::settings_at_once(const MeshSpace::Class& sizes) const {
    return space_.spec().mesh
               ? std::clamp<std::size_t>(kPlansOfPiece / sizes.meshes.size(), 1, kSettingsOfPiece)
               : 1;
}

/// Large axes come first, because their plans are good as a rule and bounding may be ended early.
const std::vector<std::size_t>& Bounding::ends(const Machine& machine) const {
    std::call_once(machine.is_cut, [&] {
        if (machine.meshes == nullptr) {
            machine.ends = {1};
            return;
        }
        std::size_t end = 0;
        const std::vector<MeshSpace::Class>& classes = machine.meshes->classes();
        for (auto sizes = classes.rbegin(); sizes != classes.rend(); ++sizes) {
            const std::size_t at_once = settings_at_once(*sizes);
            end += (machine.settings.size() + at_once - 1) / at_once;
            machine.ends.push_back(end);
        }
    });
    return machine.ends;
}

std::size_t Bounding::pieces(std::size_t machine) const {
    const std::vector<std::size_t>& all = ends(machines_[machine]);
    return all.empty() ? 0 : all.back();
}

Bounding::Piece Bounding::piece_of(const Machine& machine, std::size_t number) const {
    const std::span all(machine.settings);
    if (machine.meshes == nullptr) {
        return {all, nullptr};
    }
    const std::vector<std::size_t>& ends = this->ends(machine);
    const auto end = std::ranges::upper_bound(ends, number);
    const auto place = static_cast<std::size_t>(end - ends.begin());
    const std::vector<MeshSpace::Class>& classes = machine.meshes->classes();
    const MeshSpace::Class& sizes = classes[classes.size() - 1 - place];
    const std::size_t at_once = settings_at_once(sizes);
    const std::size_t first = (number - (place == 0 ? 0 : ends[place - 1])) * at_once;
    return {all.subspan(first, std::min(at_once, all.size() - first)), &sizes};
}

std::uint64_t Bounding::plans(std::size_t machine) const {
    const Machine& one = machines_[machine];
    return one.meshes == nullptr
               ? one.settings.size()
               : space_.plans_of(*one.meshes, one.settings,
                                 [&](std::uint32_t setting, const MeshSpace::Class& sizes) {
                                     return space_.is_idle(setting, sizes);
                                 });
}

std::uint64_t Bounding::plans(std::size_t machine, std::size_t piece) const {
    const auto [settings, sizes] = piece_of(machines_[machine], piece);
    if (sizes == nullptr) {
        return settings.size();
    }
    return sizes->meshes.size() *
           static_cast<std::uint64_t>(std::ranges::count_if(
               settings, [&](std::uint32_t one) { return !space_.is_idle(one, *sizes); }));
}

std::uint64_t Bounding::most_plans(std::size_t machine) const {
    const Machine& one = machines_[machine];
    return one.settings.size() * (one.meshes == nullptr ? 1 : one.meshes->most());
}

/// Returns an empty mesh if the mesh is the scenario's.
PlacedMesh Bounding::placed_mesh(const MeshSpace& meshes, std::uint32_t number) const {
    return space_.spec().mesh ? meshes.mesh(number) : topology::DeviceMesh();
}

BoundedPlans Bounding::bound(std::size_t machine, std::size_t piece, Watch* watch,
                             const std::function<bool(bool)>& stop) const {
    const MeshSpace* const meshes = machines_[machine].meshes;
    const auto [numbers, sizes] = piece_of(machines_[machine], piece);
    BoundedPlans plans;
    if (meshes == nullptr) {
        for (const std::uint32_t setting : numbers) {
            ++plans.enumerated;
            ++plans.refused[space_.why_not(setting)];
        }
        return plans;
    }
    std::deque<SettingBounds> settings;
    std::vector<SettingBounds*> open;
    for (const std::uint32_t setting : numbers) {
        tell(watch, Phase::bounding);
        if (space_.repeated(setting, *sizes)) {
            continue;
        }
        open.push_back(&settings.emplace_back(
            space_, setting, *meshes, SettingBounds::usual(space_, setting, *meshes, *sizes),
            known()));
    }
    const std::size_t all = sizes->meshes.size();
    bool any = false;
    bool stopped = false;
    for (std::size_t i = 0; i < all && !open.empty() && !stopped; ++i) {
        const PlacedMesh placed = placed_mesh(*meshes, sizes->meshes[i]);
        std::size_t added = 0;
        for (; added < open.size() && !stopped; ++added) {
            stopped = stop(any);
            if (!stopped) {
                open[added]->add(sizes->meshes[i], placed);
                any = any || open[added]->has_any();
                tell(watch, Phase::bounding);
            }
        }
        added -= stopped ? 1 : 0;
        for (std::size_t k = 0; k < open.size() && (i == 0 || stopped); ++k) {
            const std::size_t rest = all - i - (k < added ? 1 : 0);
            if (i == 0 && k < added && open[k]->is_settled()) {
                open[k]->add_settled(rest);
                open[k] = nullptr;
            } else if (stopped) {
                plans.left += rest;
            }
        }
        std::erase(open, nullptr);
    }
    for (SettingBounds& setting : settings) {
        plans.add(std::move(setting).take());
    }
    return plans;
}

BoundedPlans Bounding::refined(const RoughGroup& group, Watch* watch) const {
    const std::uint32_t setting = group.facts.setting;
    const MeshSpace& meshes = *space_.meshes(setting);
    SettingBounds bounds(space_, setting, meshes, SettingBounds::Bounds::exact, known());
    for (const std::uint32_t number : group.meshes) {
        bounds.add(number, placed_mesh(meshes, number));
        tell(watch, Phase::bounding);
    }
    BoundedPlans plans = std::move(bounds).take();
    // Both bounds hold; the simulation is checked against the larger.
    for (Candidate& candidate : plans.candidates) {
        candidate.bound = std::max(candidate.bound, group.bound);
    }
    plans.enumerated = 0;
    return plans;
}

}  // namespace podsim::scenarios
