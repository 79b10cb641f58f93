#include "scenarios/space/candidates.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "scenarios/study/parallel.h"

namespace podsim::scenarios {

std::vector<Bounding::Task> Bounding::tasks() const {
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
    std::vector<Task> tasks;
    for (const auto& [meshes, settings] : machines) {
        const std::size_t classes = meshes == nullptr ? 1 : meshes->classes().size();
        for (std::size_t sizes = 0; sizes < classes; ++sizes) {
            tasks.push_back({settings, meshes, sizes});
        }
    }
    return tasks;
}

BoundedPlans Bounding::bound(const Task& task) const {
    BoundedPlans plans;
    if (task.meshes == nullptr) {
        for (const std::uint32_t setting : task.settings) {
            ++plans.enumerated;
            ++plans.refused[space_.why_not(setting)];
        }
        return plans;
    }
    const MeshSpace::Class& sizes = task.meshes->classes()[task.sizes];
    const auto known = std::make_shared<KnownBounds>();
    std::deque<SettingBounds> settings;
    std::vector<SettingBounds*> open;
    for (const std::uint32_t setting : task.settings) {
        open.push_back(&settings.emplace_back(
            space_, setting, *task.meshes,
            SettingBounds::usual(space_, setting, *task.meshes, sizes), known));
    }
    for (std::size_t i = 0; i < sizes.meshes.size() && !open.empty(); ++i) {
        const PlacedMesh placed(task.meshes->mesh(sizes.meshes[i]));
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
    }
    for (SettingBounds& setting : settings) {
        plans.add(std::move(setting).take());
    }
    return plans;
}

/// Of `count` pieces of work, each of which gives some plans, in order.
template <class Work>
BoundedPlans Bounding::collect(std::size_t count, Work work) const {
    BoundedPlans all;
    run_in_order(
        0, count, jobs_, work,
        [&](std::size_t i, BoundedPlans plans) {
            all.add(std::move(plans));
            tell(watch_, Phase::bounding, static_cast<double>(i + 1) / static_cast<double>(count));
        },
        [] { return false; });
    return all;
}

BoundedPlans Bounding::all() const {
    const std::vector<Task> all = tasks();
    BoundedPlans plans = collect(all.size(), [&](std::size_t i) { return bound(all[i]); });
    std::ranges::stable_sort(plans.rough, {}, &RoughGroup::bound);
    return plans;
}

BoundedPlans Bounding::refined(std::span<const RoughGroup> groups) const {
    BoundedPlans plans = collect(groups.size(), [&](std::size_t i) {
        const std::uint32_t setting = groups[i].facts.setting;
        const MeshSpace& meshes = *space_.meshes(setting);
        SettingBounds bounds(space_, setting, meshes, SettingBounds::Bounds::exact,
                             std::make_shared<KnownBounds>());
        for (const std::uint32_t number : groups[i].meshes) {
            bounds.add(number, meshes.mesh(number));
        }
        return std::move(bounds).take();
    });
    plans.enumerated = 0;
    return plans;
}

}  // namespace podsim::scenarios
