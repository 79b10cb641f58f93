#include "scenarios/space/candidates.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "scenarios/load/load.h"
#include "scenarios/lower/rates.h"
#include "scenarios/spec/training_step.h"
#include "scenarios/study/parallel.h"
#include "workloads/analytic/step_flops.h"
#include "workloads/plan/plan.h"
#include "workloads/program/axis_names.h"

namespace podsim::scenarios {
namespace {

constexpr double kSecondsOfHour = 3600;

PlanFacts facts_of(const Scenario& scenario, std::uint32_t setting) {
    const TrainingStep& step = scenario.step();
    const Hardware& hardware = scenario.hardware;
    const workloads::MachineRates rates = ideal_rates(scenario.hardware);
    PlanFacts facts;
    facts.setting = setting;
    facts.capacity = hardware.chip.usable_hbm().value();
    facts.chips = hardware.chips();
    facts.tokens = step.plan.batch.tokens;
    facts.flops = workloads::step_flops(step.model, step.plan, sim::Flops(0), step.report.flop_rule)
                      .model.value();
    facts.peak_flops =
        std::max(rates.peak(step.plan.precision.matmul), rates.flops).value() * facts.chips;
    if (step.report.usd_per_chip_hour) {
        facts.usd_per_second = *step.report.usd_per_chip_hour * facts.chips / kSecondsOfHour;
    }
    facts.run_tokens = step.report.tokens;
    return facts;
}

/// A value of `overlap`, empty where the scenario has none.
std::string overlap_of(const YamlNode& tree, std::string_view key) {
    const YamlNode* const overlap = tree.find("overlap");
    const YamlNode* const value = overlap != nullptr ? overlap->find(key) : nullptr;
    return value != nullptr ? value->text : "";
}

/// Whether tensor collectives are taken in steps between the parts of matmuls.
bool takes_tensor_steps(const YamlNode& tree) {
    const std::string tensor = overlap_of(tree, "tensor");
    return !tensor.empty() && tensor != "blocking";
}

}  // namespace

std::vector<Bounding::Task> Bounding::tasks() const {
    std::vector<Task> tasks;
    for (std::uint32_t setting = 0; setting < space_.settings(); ++setting) {
        const MeshSpace* const space = space_.meshes(setting);
        if (space == nullptr) {
            tasks.push_back({setting, nullptr, 0});
            continue;
        }
        for (std::size_t sizes = 0; sizes < space->classes().size(); ++sizes) {
            tasks.push_back({setting, space, sizes});
        }
    }
    return tasks;
}

Bounding::Shape Bounding::shape_of(const YamlNode& tree, const topology::DeviceMesh& mesh,
                                   const MeshSpace& space) {
    Shape shape;
    for (const topology::LogicalAxis& axis : mesh.axes()) {
        const topology::SliceFactor across = mesh.across({axis.name});
        shape.insert(shape.end(), {across.stride, across.length});
    }
    const auto add_steps = [&](std::string_view axis) {
        const topology::Lattice& slice = space.slice();
        for (const topology::AxisFactor& factor : mesh.group({std::string(axis)})) {
            const bool ring = slice.wraps(factor.axis) &&
                              factor.stride * factor.length == slice.length(factor.axis);
            shape.insert(shape.end(), {factor.length, ring ? 1 : 0});
            if (slice.twisted()) {
                shape.insert(shape.end(), {factor.axis, factor.stride});
            }
        }
        shape.push_back(0);
    };
    if (takes_tensor_steps(tree)) {
        add_steps(workloads::axis::tensor);
    }
    if (overlap_of(tree, "context") == "ring") {
        add_steps(workloads::axis::context);
    }
    return shape;
}

Bounding::Bounded Bounding::bound(const Task& task) const {
    if (task.space == nullptr) {
        Bounded bounded;
        bounded.enumerated = 1;
        bounded.refused[space_.why_not(task.setting)] = 1;
        return bounded;
    }
    const MeshSpace::Class& sizes = task.space->classes()[task.sizes];
    const bool rough = takes_tensor_steps(space_.tree_of(task.setting)) &&
                       task.space->size_of(sizes, workloads::axis::tensor) > 1;
    Bounded bounded = rough ? bound_roughly(task.setting, *task.space, sizes.meshes)
                            : bound_exactly(task.setting, *task.space, sizes.meshes);
    bounded.enumerated = sizes.meshes.size();
    return bounded;
}

Bounding::Bounded Bounding::bound_exactly(std::uint32_t setting, const MeshSpace& space,
                                          std::span<const std::uint32_t> meshes) const {
    Bounded bounded;
    const YamlNode tree = space_.tree_of(setting);
    std::map<Shape, Outlined> outlines;
    for (const std::uint32_t number : meshes) {
        try {
            const topology::DeviceMesh mesh =
                space_.spec().mesh ? space.mesh(number) : topology::DeviceMesh();
            Outlined& one = outlines[space_.spec().mesh ? shape_of(tree, mesh, space) : Shape{}];
            if (!one.tried) {
                outline(tree, setting, number, TensorCollectives::as_built, one);
            }
            bound_mesh(one, space_.spec().mesh ? mesh : one.mesh, number, bounded);
        } catch (const sim::InputError& error) {
            ++bounded.refused[reason_of(error)];
        } catch (const sim::TimeOverflow&) {
            ++bounded.refused[std::string(kBeyondTheClock)];
        }
    }
    return bounded;
}

/// By the plan with blocking collectives, and the shapes of the plan as it is.
Bounding::Bounded Bounding::bound_roughly(std::uint32_t setting, const MeshSpace& space,
                                          std::span<const std::uint32_t> meshes) const {
    Bounded bounded;
    const YamlNode tree = space_.tree_of(setting);
    YamlNode blocking = tree;
    apply_setting(blocking, "overlap.tensor=blocking");
    std::map<Shape, Outlined> outlines;
    std::map<Shape, RoughGroup> groups;
    for (const std::uint32_t number : meshes) {
        try {
            const topology::DeviceMesh mesh = space.mesh(number);
            Outlined& one = outlines[shape_of(blocking, mesh, space)];
            if (!one.tried) {
                outline(blocking, setting, number, TensorCollectives::in_steps, one);
            }
            if (one.outline == nullptr) {
                ++bounded.refused[one.refused];
                continue;
            }
            const bool fits = one.facts.least_peak <= one.facts.capacity;
            const sim::Time bound = fits ? one.outline->bound(mesh) : sim::Time{};
            RoughGroup& group = groups[shape_of(tree, mesh, space)];
            group.bound = group.meshes.empty() ? bound : std::min(group.bound, bound);
            group.facts = one.facts;
            group.facts.least_peak = 0;
            group.meshes.push_back(number);
        } catch (const sim::InputError& error) {
            ++bounded.refused[reason_of(error)];
        } catch (const sim::TimeOverflow&) {
            ++bounded.refused[std::string(kBeyondTheClock)];
        }
    }
    for (auto& [shape, group] : groups) {
        bounded.rough.push_back(std::move(group));
    }
    return bounded;
}

void Bounding::outline(const YamlNode& tree, std::uint32_t setting, std::uint32_t mesh,
                       TensorCollectives tensor, Outlined& one) const {
    one.tried = true;
    try {
        const Scenario scenario =
            load_scenario(space_.with_mesh(tree, setting, mesh), space_.path());
        one.facts = facts_of(scenario, setting);
        one.mesh = scenario.step().mesh;
        if (one.facts.tokens < space_.spec().asked.least_tokens) {
            one.refused = "fewer tokens in a batch than search.tokens";
            return;
        }
        one.outline = std::make_unique<StepOutline>(scenario, tensor);
        one.facts.least_peak = one.outline->least_peak().value();
    } catch (const sim::InputError& error) {
        one.refused = reason_of(error);
    } catch (const sim::TimeOverflow&) {
        one.refused = kBeyondTheClock;
    }
}

void Bounding::bound_mesh(Outlined& one, const topology::DeviceMesh& mesh, std::uint32_t number,
                          Bounded& bounded) const {
    if (one.outline == nullptr) {
        ++bounded.refused[one.refused];
        return;
    }
    if (one.facts.least_peak > one.facts.capacity * (1 - space_.spec().asked.memory_margin)) {
        ++bounded.unfit;
        return;
    }
    const sim::Time bound = one.outline->bound(mesh);
    if (!one.number) {
        one.number = static_cast<std::uint32_t>(bounded.facts.size());
        bounded.facts.push_back(one.facts);
    }
    bounded.candidates.push_back({bound, *one.number, number, one.outline->likely(mesh)});
}

/// Of `count` pieces of work, each of which gives a Bounded, in order.
template <class Work>
CandidateList Bounding::collect(std::size_t count, Work work) const {
    CandidateList list;
    run_in_order(
        0, count, jobs_, work,
        [&](std::size_t i, Bounded bounded) {
            list.enumerated += bounded.enumerated;
            list.unfit += bounded.unfit;
            for (const auto& [reason, times] : bounded.refused) {
                list.refused[reason] += times;
            }
            const auto before = static_cast<std::uint32_t>(list.facts.size());
            for (Candidate& candidate : bounded.candidates) {
                candidate.facts += before;
                list.candidates.push_back(candidate);
            }
            list.facts.insert(list.facts.end(), bounded.facts.begin(), bounded.facts.end());
            std::ranges::move(bounded.rough, std::back_inserter(list.rough));
            tell(watch_, Phase::bounding, static_cast<double>(i + 1) / static_cast<double>(count));
        },
        [] { return false; });
    return list;
}

CandidateList Bounding::all() const {
    const std::vector<Task> all = tasks();
    CandidateList list = collect(all.size(), [&](std::size_t i) { return bound(all[i]); });
    std::ranges::stable_sort(list.rough, {}, &RoughGroup::bound);
    return list;
}

CandidateList Bounding::refined(std::span<const RoughGroup> groups) const {
    return collect(groups.size(), [&](std::size_t i) {
        const std::uint32_t setting = groups[i].facts.setting;
        return bound_exactly(setting, *space_.meshes(setting), groups[i].meshes);
    });
}

}  // namespace podsim::scenarios
