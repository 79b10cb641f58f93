#include "scenarios/space/candidates.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

namespace podsim::scenarios {

Bounding::Bounding(const SearchSpace& space) : space_(space) {
    std::vector<std::pair<const MeshSpace*, std::vector<std::uint32_t>>> machines;
    for (std::uint32_t setting = 0; setting < space_.settings(); ++setting) {
        const MeshSpace* const meshes = space_.meshes(setting);
        auto machine =
            std::ranges::find(machines, meshes, [](const auto& one) { return one.first; });
        if (machine == machines.end()) {
            machine = machines.insert(machines.end(), {meshes, {}});
        }
        machine->second.push_back(setting);
    }
    for (const auto& [meshes, settings] : machines) {
        const std::size_t classes = meshes == nullptr ? 1 : meshes->classes().size();
        // Large axes come first, whose plans are good as a rule: bounding may be ended early.
        for (std::size_t sizes = classes; sizes-- > 0;) {
            tasks_.push_back({settings, meshes, sizes});
        }
    }
}

/// None where the mesh is the scenario's.
PlacedMesh Bounding::placed_mesh(const MeshSpace& meshes, std::uint32_t number) const {
    return space_.spec().mesh ? meshes.mesh(number) : topology::DeviceMesh();
}

BoundedPlans Bounding::bound(std::size_t number, Watch* watch) const {
    const Task& task = tasks_[number];
    BoundedPlans plans;
    if (task.meshes == nullptr) {
        for (const std::uint32_t setting : task.settings) {
            ++plans.enumerated;
            ++plans.refused[space_.why_not(setting)];
        }
        return plans;
    }
    const MeshSpace::Class& sizes = task.meshes->classes()[task.sizes];
    std::deque<SettingBounds> settings;
    std::vector<SettingBounds*> open;
    for (const std::uint32_t setting : task.settings) {
        if (space_.repeated(setting, sizes)) {
            continue;
        }
        open.push_back(&settings.emplace_back(
            space_, setting, *task.meshes,
            SettingBounds::usual(space_, setting, *task.meshes, sizes), known()));
    }
    for (std::size_t i = 0; i < sizes.meshes.size() && !open.empty(); ++i) {
        const PlacedMesh placed = placed_mesh(*task.meshes, sizes.meshes[i]);
        for (SettingBounds* const setting : open) {
            setting->add(sizes.meshes[i], placed);
        }
        std::erase_if(open, [&](SettingBounds* setting) {
            const bool settled = i == 0 && setting->is_settled();
            if (settled) {
                setting->add_settled(sizes.meshes.size() - 1);
            }
            return settled;
        });
        tell(watch, Phase::bounding);
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
    // Both bounds hold; what is simulated is held to the larger.
    for (Candidate& candidate : plans.candidates) {
        candidate.bound = std::max(candidate.bound, group.bound);
    }
    plans.enumerated = 0;
    return plans;
}

}  // namespace podsim::scenarios
