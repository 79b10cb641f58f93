#include "scenarios/search/candidates.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <tuple>
#include <utility>

#include "scenarios/load/load.h"
#include "scenarios/lower/rates.h"
#include "scenarios/outline/step_outline.h"
#include "scenarios/spec/training_step.h"
#include "scenarios/study/parallel.h"
#include "sim/base/error.h"
#include "workloads/analytic/step_flops.h"
#include "workloads/plan/plan.h"
#include "workloads/program/axis_names.h"

namespace podsim::scenarios {
namespace {

constexpr std::uint64_t kMostSettingsOfSearch = 100'000;
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

/// What is asked of a search must be known of its scenario.
void check_asked(const YamlNode& tree, const std::string& file, const SearchSpec& spec) {
    const auto says = [&](std::string_view section, std::string_view key) {
        const YamlNode* const found = tree.find(section);
        return found != nullptr && found->find(key) != nullptr;
    };
    const auto refuse = [&](std::string problem, std::string remedy) {
        throw sim::InputError(std::move(problem), std::move(remedy), {file, 0, 0});
    };
    if (tree.find("program") != nullptr || tree.find("serving") != nullptr) {
        refuse("only training steps and steps of inference have a plan to search for",
               "search a scenario with a model and a batch, or with inference.step");
    }
    if ((spec.asked.objective == SearchObjective::cost || spec.asked.budget_usd) &&
        !says("report", "price")) {
        refuse("a cost is asked for, but no price is known",
               "write report: {tokens: 15T, price: 4.20 USD/chip-hour}");
    }
    if (spec.asked.budget_usd && !says("report", "tokens")) {
        refuse("a budget, but nothing that it is to pay for", "write report: {tokens: 15T}");
    }
    if (spec.asked.objective == SearchObjective::chips && !spec.asked.deadline_s) {
        refuse("the fewest chips are asked for, but not for what", "write search: {deadline: 2 s}");
    }
}

/// A value of `overlap`, empty where the scenario has none.
std::string overlap_of(const YamlNode& tree, std::string_view key) {
    const YamlNode* const overlap = tree.find("overlap");
    const YamlNode* const value = overlap != nullptr ? overlap->find(key) : nullptr;
    return value != nullptr ? value->text : "";
}

}  // namespace

std::string reason_of(const sim::InputError& error) {
    std::string reason = sim::errors_in(error).front().problem();
    std::string plain;
    bool in_number = false;
    for (const char letter : reason) {
        const bool digit = letter >= '0' && letter <= '9';
        if (!digit) {
            plain += letter;
        } else if (!in_number) {
            plain += 'N';
        }
        in_number = digit;
    }
    return plain;
}

SearchSpace::SearchSpace(const ScenarioSource& source, std::span<const std::string> settings,
                         const SearchRequest& request)
    : path_(source.file), base_(read_scenario(source)) {
    for (const std::string& setting : settings) {
        apply_setting(base_, setting);
    }
    spec_ = search_spec(base_, path_, request);
    base_ = without_search(std::move(base_));
    if (spec_.mesh) {
        std::erase_if(base_.entries, [](const YamlNode::Entry& entry) {
            return entry.key == "mesh" || entry.key == "mesh_mapping";
        });
    }
    for (const Varied& varied : spec_.varied) {
        settings_ *= varied.values.size();
        if (settings_ > kMostSettingsOfSearch) {
            throw sim::InputError(
                fmt::format("more than {} settings beside the meshes", kMostSettingsOfSearch),
                "vary fewer keys, or fewer values of them");
        }
    }
    check_asked(base_, path_, spec_);
    for (std::uint32_t setting = 0; setting < settings_; ++setting) {
        add_meshes(setting);
    }
}

std::string SearchSpace::name() const {
    const YamlNode* const name = base_.find("name");
    return name != nullptr && name->kind == YamlNode::Kind::scalar
               ? name->text
               : std::filesystem::path(path_).stem().string();
}

/// Settings of one machine share their meshes. A setting that is refused whatever its mesh says why.
void SearchSpace::add_meshes(std::uint32_t setting) {
    spaces_.emplace_back();
    try {
        const IdealHardware hardware = load_hardware(tree_of(setting), path_);
        if (!spec_.mesh) {
            spaces_.back() = std::make_shared<MeshSpace>(hardware, std::vector<MeshAxis>{});
            return;
        }
        for (std::uint32_t other = 0; other < setting; ++other) {
            if (spaces_[other] != nullptr && spaces_[other]->is_of(hardware)) {
                spaces_.back() = spaces_[other];
                return;
            }
        }
        spaces_.back() = std::make_shared<MeshSpace>(hardware, *spec_.mesh);
    } catch (const sim::InputError& error) {
        if (settings_ == 1) {
            throw;
        }
        without_machine_[setting] = reason_of(error);
    }
}

std::vector<std::size_t> SearchSpace::choice(std::uint32_t setting) const {
    std::vector<std::size_t> choice(spec_.varied.size());
    std::size_t rest = setting;
    for (std::size_t key = choice.size(); key-- > 0;) {
        choice[key] = rest % spec_.varied[key].values.size();
        rest /= spec_.varied[key].values.size();
    }
    return choice;
}

YamlNode SearchSpace::tree_of(std::uint32_t setting) const {
    YamlNode tree = base_;
    const std::vector<std::size_t> chosen = choice(setting);
    for (std::size_t key = 0; key < chosen.size(); ++key) {
        const Varied& varied = spec_.varied[key];
        set_value(tree, varied.key, varied.values[chosen[key]],
                  fmt::format("{}={}", varied.key, varied.texts[chosen[key]]));
    }
    return tree;
}

std::vector<std::string> SearchSpace::set(const PlanFacts& facts,
                                          const Candidate& candidate) const {
    std::vector<std::string> set;
    const std::vector<std::size_t> chosen = choice(facts.setting);
    for (std::size_t key = 0; key < chosen.size(); ++key) {
        const Varied& varied = spec_.varied[key];
        set.push_back(fmt::format("{}={}", varied.key, varied.texts[chosen[key]]));
    }
    if (spec_.mesh) {
        set.push_back("mesh=" + spaces_[facts.setting]->text(candidate.mesh));
    }
    return set;
}

YamlNode SearchSpace::tree(const PlanFacts& facts, const Candidate& candidate) const {
    YamlNode tree = tree_of(facts.setting);
    if (spec_.mesh) {
        apply_setting(tree, "mesh=" + spaces_[facts.setting]->text(candidate.mesh));
    }
    return tree;
}

Scenario SearchSpace::scenario(const PlanFacts& facts, const Candidate& candidate) const {
    return load_scenario(tree(facts, candidate), path_);
}

std::vector<SearchSpace::Task> SearchSpace::tasks() const {
    std::vector<Task> tasks;
    for (std::uint32_t setting = 0; setting < settings_; ++setting) {
        const MeshSpace* const space = spaces_[setting].get();
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

SearchSpace::Shape SearchSpace::shape_of(const YamlNode& tree, const topology::DeviceMesh& mesh,
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
    if (const std::string tensor = overlap_of(tree, "tensor");
        !tensor.empty() && tensor != "blocking") {
        add_steps(workloads::axis::tensor);
    }
    if (overlap_of(tree, "context") == "ring") {
        add_steps(workloads::axis::context);
    }
    return shape;
}

SearchSpace::Bounded SearchSpace::bound(const Task& task) const {
    Bounded bounded;
    if (task.space == nullptr) {
        bounded.enumerated = 1;
        bounded.refused[without_machine_.at(task.setting)] = 1;
        return bounded;
    }
    const YamlNode tree = tree_of(task.setting);
    const std::vector<std::uint32_t>& meshes = task.space->classes()[task.sizes].meshes;
    bounded.enumerated = meshes.size();
    std::map<Shape, Outlined> outlines;
    for (const std::uint32_t number : meshes) {
        try {
            const topology::DeviceMesh mesh =
                spec_.mesh ? task.space->mesh(number) : topology::DeviceMesh();
            Outlined& one = outlines[spec_.mesh ? shape_of(tree, mesh, *task.space) : Shape{}];
            if (!one.tried) {
                outline(task.setting, number, one);
            }
            bound_mesh(one, spec_.mesh ? mesh : one.mesh, number, bounded);
        } catch (const sim::InputError& error) {
            ++bounded.refused[reason_of(error)];
        } catch (const sim::TimeOverflow&) {
            ++bounded.refused[std::string(kBeyondTheClock)];
        }
    }
    return bounded;
}

void SearchSpace::outline(std::uint32_t setting, std::uint32_t mesh, Outlined& one) const {
    one.tried = true;
    try {
        PlanFacts facts;
        facts.setting = setting;
        const Scenario scenario = this->scenario(facts, {{}, 0, mesh});
        one.facts = facts_of(scenario, setting);
        one.mesh = scenario.step().mesh;
        if (one.facts.tokens < spec_.asked.least_tokens) {
            one.refused = "fewer tokens in a batch than search.tokens";
            return;
        }
        one.outline = std::make_unique<StepOutline>(scenario);
        one.facts.least_peak = one.outline->least_peak().value();
    } catch (const sim::InputError& error) {
        one.refused = reason_of(error);
    } catch (const sim::TimeOverflow&) {
        one.refused = kBeyondTheClock;
    }
}

void SearchSpace::bound_mesh(Outlined& one, const topology::DeviceMesh& mesh, std::uint32_t number,
                             Bounded& bounded) const {
    if (one.outline == nullptr) {
        ++bounded.refused[one.refused];
        return;
    }
    if (one.facts.least_peak > one.facts.capacity * (1 - spec_.asked.memory_margin)) {
        ++bounded.unfit;
        return;
    }
    const sim::Time bound = one.outline->bound(mesh);
    if (!one.number) {
        one.number = static_cast<std::uint32_t>(bounded.facts.size());
        bounded.facts.push_back(one.facts);
    }
    bounded.candidates.push_back({bound, *one.number, number});
}

CandidateList SearchSpace::candidates(int jobs, Watch* watch) const {
    const std::vector<Task> all = tasks();
    CandidateList list;
    run_in_order(
        0, all.size(), jobs, [&](std::size_t i) { return bound(all[i]); },
        [&](std::size_t i, Bounded bounded) {
            list.enumerated += bounded.enumerated;
            list.unfit += bounded.unfit;
            for (const auto& [reason, count] : bounded.refused) {
                list.refused[reason] += count;
            }
            const auto before = static_cast<std::uint32_t>(list.facts.size());
            for (Candidate& candidate : bounded.candidates) {
                candidate.facts += before;
                list.candidates.push_back(candidate);
            }
            list.facts.insert(list.facts.end(), bounded.facts.begin(), bounded.facts.end());
            tell(watch, Phase::bounding,
                 static_cast<double>(i + 1) / static_cast<double>(all.size()));
        },
        [] { return false; });
    std::ranges::sort(list.candidates, {}, [&](const Candidate& one) {
        return std::tuple(list.facts[one.facts].setting, one.mesh);
    });
    return list;
}

}  // namespace podsim::scenarios
