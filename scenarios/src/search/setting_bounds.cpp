#include "scenarios/src/search/setting_bounds.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "collectives/paths/factors.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/search/memory_fit.h"
#include "workloads/plan/axis_names.h"
#include "workloads/plan/plan.h"

namespace podsim::scenarios {
namespace {

/// Returns a value of `overlap`, empty if the scenario has none.
std::string overlap_of(const YamlNode& tree, std::string_view key) {
    const YamlNode* const overlap = tree.find("overlap");
    const YamlNode* const value = overlap != nullptr ? overlap->find(key) : nullptr;
    return value != nullptr ? value->text : "";
}

/// True if tensor collectives go in steps between the segments of matmuls.
bool takes_tensor_steps(const YamlNode& tree) {
    const std::string tensor = overlap_of(tree, "tensor");
    return !tensor.empty() && tensor != "blocking";
}

/// True if collective matmuls have steps along the factors of tensor
/// (collectives/algorithms/ring_step_schedule.h).
bool has_ring_steps(const topology::Lattice& slice, const topology::DeviceMesh& mesh) {
    return !collectives::spans_twisted_slice(slice,
                                             mesh.group({std::string(workloads::axis::tensor)}));
}

bool takes_context_steps(const YamlNode& tree) {
    return overlap_of(tree, "context") == "ring";
}

}  // namespace

void BoundedPlans::add(BoundedPlans others) {
    enumerated += others.enumerated;
    unfit += others.unfit;
    left += others.left;
    for (const auto& [reason, times] : others.refused) {
        refused[reason] += times;
    }
    const auto before = static_cast<std::uint32_t>(facts.size());
    for (Candidate& candidate : others.candidates) {
        candidate.facts += before;
    }
    std::ranges::move(others.candidates, std::back_inserter(candidates));
    std::ranges::move(others.facts, std::back_inserter(facts));
    std::ranges::move(others.rough, std::back_inserter(rough));
    std::ranges::move(others.misses, std::back_inserter(misses));
    keep_nearest(misses);
}

std::size_t BoundedPlans::held() const {
    std::size_t plans = candidates.size();
    for (const RoughGroup& group : rough) {
        plans += group.meshes.size();
    }
    return plans;
}

void keep_nearest(std::vector<Miss>& misses) {
    std::ranges::sort(misses, {}, [](const Miss& miss) {
        return std::tuple(miss.bytes_over(), miss.facts.setting, miss.mesh);
    });
    misses.resize(std::min(misses.size(), kMostMisses));
}

SettingBounds::SettingBounds(const SearchSpace& space, std::uint32_t setting,
                             const MeshSpace& meshes, Bounds bounds,
                             std::shared_ptr<KnownBounds> known)
    : space_(space),
      setting_(setting),
      meshes_(meshes),
      bounds_(bounds),
      known_(std::move(known)),
      tree_(space.tree_of(setting)),
      outlined_tree_(tree_) {
    if (bounds_ == Bounds::rough) {
        apply_setting(outlined_tree_, "overlap.tensor=blocking");
    }
}

SettingBounds::Bounds SettingBounds::usual(const SearchSpace& space, std::uint32_t setting,
                                           const MeshSpace& meshes, const MeshSpace::Class& sizes) {
    return takes_tensor_steps(space.tree_of(setting)) &&
                   meshes.size_of(sizes, workloads::axis::tensor) > 1
               ? Bounds::rough
               : Bounds::exact;
}

bool SettingBounds::is_of_one_shape(const YamlNode& tree) const {
    return !space_.spec().mesh ||
           (meshes_.slices() == 1 && !takes_tensor_steps(tree) && !takes_context_steps(tree));
}

SettingBounds::Shape SettingBounds::spans_of(const topology::DeviceMesh& mesh) {
    Shape shape;
    for (const topology::LogicalAxis& axis : mesh.axes()) {
        const topology::SliceFactor across = mesh.across({axis.name});
        shape.insert(shape.end(), {across.stride, across.length});
    }
    return shape;
}

SettingBounds::Shape SettingBounds::shape_of(const YamlNode& tree,
                                             const topology::DeviceMesh& mesh) const {
    if (is_of_one_shape(tree)) {
        return {};
    }
    Shape shape = spans_of(mesh);
    const auto add_steps = [&](std::string_view axis) {
        const topology::Lattice& slice = meshes_.slice();
        const collectives::Group group = mesh.group({std::string(axis)});
        for (const topology::AxisFactor& factor : group) {
            const collectives::FactorKind kind = collectives::factor_kind(slice, factor);
            shape.insert(shape.end(), {factor.length, kind.ring ? 1 : 0});
            // The division of an array among several factors depends on the number of links that a
            // hop of each takes (collectives::divide).
            if (group.size() > 1) {
                shape.push_back(kind.links_per_hop);
            }
            if (slice.twisted()) {
                shape.insert(shape.end(), {factor.axis, factor.stride});
            }
        }
        shape.push_back(0);
    };
    if (takes_tensor_steps(tree)) {
        add_steps(workloads::axis::tensor);
    }
    if (takes_context_steps(tree)) {
        add_steps(workloads::axis::context);
    }
    return shape;
}

void SettingBounds::add(std::uint32_t number, const PlacedMesh& placed) {
    ++plans_.enumerated;
    try {
        Outlined& one = outlined(number, placed.mesh());
        if (one.outline == nullptr) {
            ++plans_.refused[one.refused];
        } else if (bounds_ == Bounds::rough) {
            add_to_group(number, placed, one);
        } else if (is_unfit(one.facts)) {
            add_unfit(number, one.facts, one.missed);
        } else if (space_.spec().mesh) {
            add_candidate(number, placed, one);
        } else {
            add_candidate(number, one.mesh, one);
        }
    } catch (const sim::InputError& error) {
        ++plans_.refused[space_.reason_of(error)];
    } catch (const sim::TimeOverflow&) {
        ++plans_.refused[std::string(kBeyondTheClock)];
    }
}

SettingBounds::Outlined& SettingBounds::outlined(std::uint32_t number,
                                                 const topology::DeviceMesh& mesh) {
    Outlined& one = outlines_[shape_of(outlined_tree_, mesh)];
    if (!one.tried) {
        one.tried = true;
        outline(number, one);
    }
    return one;
}

void SettingBounds::outline(std::uint32_t number, Outlined& one) const {
    try {
        const Scenario scenario =
            load_scenario(space_.with_mesh(outlined_tree_, setting_, number), space_.path());
        one.facts = facts_of(scenario, setting_);
        one.mesh = scenario.step().mesh;
        if (one.facts.tokens < space_.spec().asked.least_tokens) {
            one.refused = "fewer tokens in a batch than search.tokens";
            return;
        }
        one.outline = std::make_unique<StepOutline>(
            scenario,
            bounds_ == Bounds::rough ? TensorCollectives::in_steps : TensorCollectives::as_built,
            known_);
        one.facts.least_peak = one.outline->least_peak().value();
    } catch (const sim::InputError& error) {
        one.refused = space_.reason_of(error);
    } catch (const sim::TimeOverflow&) {
        one.refused = kBeyondTheClock;
    }
}

bool SettingBounds::is_unfit(const PlanFacts& facts) const {
    return !may_fit(space_.spec().asked, facts.least_peak, facts.capacity);
}

/// The first of these meshes stands for all.
void SettingBounds::add_unfit(std::uint32_t number, const PlanFacts& facts, bool& missed) {
    ++plans_.unfit;
    if (!missed) {
        plans_.misses.push_back({facts, number});
    }
    missed = true;
}

void SettingBounds::add_candidate(std::uint32_t number, const PlacedMesh& mesh, Outlined& one) {
    const StepOutline::Estimate estimate = one.outline->estimate(mesh);
    if (!one.number) {
        one.number = static_cast<std::uint32_t>(plans_.facts.size());
        plans_.facts.push_back(one.facts);
    }
    plans_.candidates.push_back({estimate.bound, *one.number, number, estimate.likely});
}

void SettingBounds::add_to_group(std::uint32_t number, const PlacedMesh& mesh,
                                 const Outlined& one) {
    const auto [found, is_new] = groups_.try_emplace(shape_of(tree_, mesh.mesh()));
    Group& group = found->second;
    if (is_new) {
        group.refused = why_refused(number, mesh.mesh());
    }
    if (!group.refused.empty()) {
        ++plans_.refused[group.refused];
        return;
    }
    RoughGroup& rough = group.rough;
    rough.facts = one.facts;
    rough.facts.least_peak = one.outline->least_kept().value();
    if (is_unfit(rough.facts)) {
        add_unfit(number, rough.facts, group.missed);
        return;
    }
    const sim::Time bound = one.outline->bound(mesh);
    rough.bound = rough.meshes.empty() ? bound : std::min(rough.bound, bound);
    rough.meshes.push_back(number);
}

/// Examines the plan itself, not the one that stands for it. Its validity as a scenario depends on
/// the slices that the axes span, and on whether its matmuls' rings have steps. If they have, one
/// plan is read for all.
std::string SettingBounds::why_refused(std::uint32_t number, const topology::DeviceMesh& mesh) {
    const auto read = [&]() -> std::string {
        try {
            static_cast<void>(
                load_scenario(space_.with_mesh(tree_, setting_, number), space_.path()));
            return {};
        } catch (const sim::InputError& error) {
            return space_.reason_of(error);
        }
    };
    if (!has_ring_steps(meshes_.slice(), mesh)) {
        return read();
    }
    const Shape spans = spans_of(mesh);
    const auto known = read_.find(spans);
    return known != read_.end() ? known->second : read_.emplace(spans, read()).first->second;
}

bool SettingBounds::is_settled() const {
    if (!is_of_one_shape(outlined_tree_) || outlines_.empty()) {
        return false;
    }
    const Outlined& one = outlines_.begin()->second;
    return one.outline == nullptr || (bounds_ == Bounds::exact && is_unfit(one.facts));
}

void SettingBounds::add_settled(std::uint64_t meshes) {
    const Outlined& one = outlines_.begin()->second;
    plans_.enumerated += meshes;
    (one.outline == nullptr ? plans_.refused[one.refused] : plans_.unfit) += meshes;
}

BoundedPlans SettingBounds::take() && {
    for (auto& [shape, group] : groups_) {
        if (!group.rough.meshes.empty()) {
            plans_.rough.push_back(std::move(group.rough));
        }
    }
    keep_nearest(plans_.misses);
    // One stands for all meshes of these sizes.
    plans_.misses.resize(std::min<std::size_t>(plans_.misses.size(), 1));
    return std::move(plans_);
}

}  // namespace podsim::scenarios
