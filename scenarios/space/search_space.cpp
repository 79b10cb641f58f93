#include "scenarios/space/search_space.h"

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "scenarios/load/load.h"
#include "scenarios/spec/training_step.h"
#include "scenarios/study/sweep.h"
#include "scenarios/text/fingerprint.h"
#include "scenarios/text/quote.h"
#include "scenarios/yaml/schema.h"
#include "sim/base/error.h"
#include "workloads/program/axis_names.h"

namespace podsim::scenarios {
namespace {

constexpr std::uint64_t kMostSettingsOfSearch = 100'000;

/// What is asked of a search must be known of its scenario.
void check_asked(const YamlNode& tree, const std::string& file, const SearchSpec& spec) {
    const auto says = [&](std::string_view section, std::string_view key) {
        const YamlNode* const found = tree.find(section);
        return found != nullptr && found->find(key) != nullptr;
    };
    const auto refuse = [&](std::string_view key, std::string problem, std::string remedy) {
        const sim::SourceMark mark = place_of(tree, key);
        throw sim::InputError(std::move(problem), std::move(remedy),
                              mark.file.empty() ? sim::SourceMark{file, 0, 0} : mark);
    };
    const bool of_cost = spec.asked.objective == SearchObjective::cost;
    if ((of_cost || spec.asked.budget_usd) && !says("report", "price")) {
        refuse(of_cost ? "search.objective" : "search.budget",
               "a cost is asked for, but no price is known",
               "write report: {tokens: 15T, price: 4.20 USD/chip-hour}");
    }
    if (spec.asked.budget_usd && !says("report", "tokens")) {
        refuse("search.budget", "a budget, but nothing that it is to pay for",
               "write report: {tokens: 15T}");
    }
    if (spec.asked.objective == SearchObjective::chips && !spec.asked.deadline_s) {
        refuse("search.objective", "the fewest chips are asked for, but not for what",
               "write search: {deadline: 2 s}");
    }
}

void refuse_without_plan(const YamlNode& tree) {
    for (const std::string_view other : {"program", "serving"}) {
        if (tree.find(other) != nullptr) {
            throw sim::InputError(
                "only training steps and steps of inference have a plan to search for",
                "search a scenario with a model and a batch, or with inference.step",
                place_of(tree, std::string(other)));
        }
    }
}

/// A mesh that is set beside a search for the mesh would be silently lost.
void refuse_set_mesh(std::span<const std::string> settings, const SearchSpec& spec) {
    for (const std::string& setting : settings) {
        const std::string key = setting.substr(0, setting.find('='));
        const sim::SourceMark mark{"--set " + printable(setting), 0, 0};
        if (!spec.mesh || setting == "mesh=auto") {
            continue;
        }
        if (key == "mesh" || key.starts_with("mesh.")) {
            throw sim::InputError("the search goes over the mesh, so that this one is lost",
                                  "leave out this --set, or name with --over what varies, without "
                                  "mesh",
                                  mark);
        }
        if (key == "mesh_mapping") {
            throw sim::InputError("it maps sizes to axes, and a search for the mesh tries all axes",
                                  "leave it out, or name with --over what varies, without mesh",
                                  mark);
        }
    }
}

}  // namespace

std::string SearchSpace::reason_of(const sim::InputError& error) const {
    const sim::InputError first = sim::errors_in(error).front();
    const std::string& reason = first.problem();
    const sim::SourceMark& mark = first.mark();
    // A mesh of the search is another for every candidate.
    const bool of_mesh = spec_.mesh && mark.file.starts_with("--set mesh=");
    std::string plain;
    if (!mark.file.empty() && !of_mesh) {
        plain = mark.line > 0 ? fmt::format("{}:{}:{}: ", mark.file, mark.line, mark.column)
                              : fmt::format("{}: ", mark.file);
    }
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
    refuse_without_plan(base_);
    check_schema(without_auto_mesh(base_));
    spec_ = search_spec(base_, path_, request);
    refuse_set_and_varied(settings, spec_.varied);
    refuse_set_mesh(settings, spec_);
    check_asked(base_, path_, spec_);
    std::vector<std::string> decisive = {PODSIM_VERSION, path_, text_of(source),
                                         "a mesh of each kind", "the scenario's own plan"};
    decisive.insert(decisive.end(), settings.begin(), settings.end());
    decisive.insert(decisive.end(), request.over.begin(), request.over.end());
    decisive.emplace_back("--vary");
    decisive.insert(decisive.end(), request.vary.begin(), request.vary.end());
    fingerprint_ = fingerprint_of(decisive);
    const bool has_own = !has_auto_mesh(base_);
    base_ = without_search(std::move(base_));
    if (has_own) {
        own_ = OwnPlan{.tree = base_};
    }
    check_varied(base_, spec_.varied,
                 "leave it out of --over, or give all its values in one --vary");
    if (spec_.mesh) {
        std::erase_if(base_.entries, [](const YamlNode::Entry& entry) {
            return entry.key == "mesh" || entry.key == "mesh_mapping";
        });
    }
    for (const std::string& setting : spec_.besides) {
        apply_setting(base_, setting);
    }
    for (const Varied& varied : spec_.varied) {
        settings_ *= varied.values.size();
        if (settings_ > kMostSettingsOfSearch) {
            throw sim::InputError(
                fmt::format("more than {} settings beside the meshes", kMostSettingsOfSearch),
                "vary fewer keys, or fewer values of them", varied.mark());
        }
    }
    const std::optional<Scenario> own = own_ ? read_own() : std::nullopt;
    for (std::uint32_t setting = 0; setting < settings_; ++setting) {
        add_meshes(setting, own);
    }
    if (own) {
        find_own();
    }
}

Scenario SearchSpace::own_scenario() const {
    return load_scenario(own_->tree, path_);
}

std::optional<Scenario> SearchSpace::read_own() {
    try {
        Scenario own = own_scenario();
        own_->facts = facts_of(own, 0);
        return own;
    } catch (const sim::InputError& error) {
        own_->refused = reason_of(error);
    } catch (const sim::TimeOverflow&) {
        own_->refused = kBeyondTheClock;
    }
    return std::nullopt;
}

/// Finds its setting and its mesh, if every key may have its value.
void SearchSpace::find_own() {
    std::uint32_t setting = 0;
    for (std::size_t key = 0; key < spec_.varied.size(); ++key) {
        if (!spec_.own[key]) {
            return;
        }
        setting =
            static_cast<std::uint32_t>(setting * spec_.varied[key].values.size() + *spec_.own[key]);
    }
    const MeshSpace* const meshes = meshes_[setting].get();
    if (meshes == nullptr || !meshes->own()) {
        return;
    }
    own_->candidate = Candidate{.mesh = *meshes->own()};
    own_->facts.setting = repeated(setting, meshes->class_of(*meshes->own())).value_or(setting);
}

std::string SearchSpace::name() const {
    const YamlNode* const name = base_.find("name");
    return name != nullptr && name->kind == YamlNode::Kind::scalar
               ? name->text
               : std::filesystem::path(path_).stem().string();
}

std::uint64_t SearchSpace::plans() const {
    std::uint64_t plans = 0;
    for (std::uint32_t setting = 0; setting < settings_; ++setting) {
        const MeshSpace* const meshes = meshes_[setting].get();
        if (meshes == nullptr) {
            ++plans;
            continue;
        }
        for (const MeshSpace::Class& sizes : meshes->classes()) {
            plans += repeated(setting, sizes) ? 0 : sizes.meshes.size();
        }
    }
    return plans;
}

/// A key that says nothing of such meshes, whatever its value.
bool SearchSpace::is_idle(const Varied& varied, const MeshSpace& meshes,
                          const MeshSpace::Class& sizes) const {
    return std::ranges::any_of(std::array{workloads::axis::tensor, workloads::axis::context},
                               [&](std::string_view axis) {
                                   return varied.key == fmt::format("overlap.{}", axis) &&
                                          meshes.size_of(sizes, axis) == 1;
                               });
}

std::optional<std::uint32_t> SearchSpace::repeated(std::uint32_t setting,
                                                   const MeshSpace::Class& sizes) const {
    if (!spec_.mesh) {
        return std::nullopt;
    }
    const std::vector<std::size_t> chosen = choice(setting);
    std::uint32_t first = setting;
    std::uint32_t settings_of_a_value = 1;
    for (std::size_t key = chosen.size(); key-- > 0;) {
        const Varied& varied = spec_.varied[key];
        if (is_idle(varied, *meshes_[setting], sizes)) {
            first -= static_cast<std::uint32_t>(chosen[key]) * settings_of_a_value;
        }
        settings_of_a_value *= static_cast<std::uint32_t>(varied.values.size());
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
    // A value that cannot be is counted with its reason, on such meshes too.
    return first != setting && why_refused(setting) == why_refused(first) ? std::optional(first)
                                                                          : std::nullopt;
}

void SearchSpace::check_any() const {
    std::exception_ptr least;
    std::size_t faults = 0;
    for (std::uint32_t setting = 0; setting < settings_; ++setting) {
        const YamlNode tree = tree_of(setting);
        const MeshSpace* const meshes = meshes_[setting].get();
        for (std::size_t i = 0; i < (meshes != nullptr ? meshes->classes().size() : 1); ++i) {
            try {
                if (meshes == nullptr) {
                    throw without_machine_.at(setting);
                }
                static_cast<void>(load_scenario(
                    with_mesh(tree, setting, meshes->classes()[i].meshes.front()), path_));
                return;
            } catch (const sim::InputError& error) {
                const std::size_t count = sim::errors_in(error).size();
                if (!least || count < faults) {
                    least = std::current_exception();
                    faults = count;
                }
            }
        }
    }
    if (least) {
        std::rethrow_exception(least);
    }
    throw sim::InputError("no sizes of search.mesh multiply to the chips of the machine",
                          "leave search.mesh out, or let an axis have any size", spec_.mesh_place);
}

/// Those of the search. Stages differ by their ranks; others do where they may do unequal work.
std::vector<MeshAxis> SearchSpace::mesh_axes() const {
    const auto may_say = [&](const std::string& section, const std::string& key) {
        const YamlNode* const found = base_.find(section);
        return (found != nullptr && found->find(key) != nullptr) ||
               std::ranges::any_of(spec_.varied, [&](const Varied& varied) {
                   return varied.key.starts_with(section + "." + key) || varied.key == section;
               });
    };
    std::vector<MeshAxis> axes = *spec_.mesh;
    for (MeshAxis& axis : axes) {
        axis.by_rank =
            axis.name == workloads::axis::pipeline ||
            (axis.name == workloads::axis::context && may_say("training", "placement")) ||
            (axis.name == workloads::axis::expert &&
             (may_say("training", "expert_imbalance") || may_say("inference", "expert_imbalance")));
    }
    return axes;
}

/// Settings of one machine share their meshes. A setting that is refused whatever its mesh says why.
void SearchSpace::add_meshes(std::uint32_t setting, const std::optional<Scenario>& own) {
    meshes_.emplace_back();
    try {
        const IdealHardware hardware = load_hardware(tree_of(setting), path_);
        if (!spec_.mesh) {
            meshes_.back() = std::make_shared<MeshSpace>(hardware, std::vector<MeshAxis>{});
            return;
        }
        for (std::uint32_t other = 0; other < setting; ++other) {
            if (meshes_[other] != nullptr && meshes_[other]->is_of(hardware)) {
                meshes_.back() = meshes_[other];
                return;
            }
        }
        const bool of_own =
            own && own->hardware.slice == hardware.slice && own->hardware.slices == hardware.slices;
        const OwnMesh mesh{of_own ? own->step().mesh : topology::DeviceMesh(), spec_.usual_axes};
        meshes_.back() =
            std::make_shared<MeshSpace>(hardware, mesh_axes(), of_own ? &mesh : nullptr);
    } catch (const sim::InputError& error) {
        const sim::InputError located =
            error.mark().file.empty() ? error.at(spec_.mesh_place) : error;
        if (settings_ == 1) {
            throw located;
        }
        without_machine_.emplace(setting, located);
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
        set_value(tree, varied.key, varied.values[chosen[key]], varied.mark_of(chosen[key]));
    }
    return tree;
}

std::vector<std::string> SearchSpace::set(const PlanFacts& facts,
                                          const Candidate& candidate) const {
    std::vector<std::string> set = spec_.besides;
    const std::vector<std::size_t> chosen = choice(facts.setting);
    for (std::size_t key = 0; key < chosen.size(); ++key) {
        const Varied& varied = spec_.varied[key];
        set.push_back(fmt::format("{}={}", varied.key, varied.texts[chosen[key]]));
    }
    if (spec_.mesh) {
        set.push_back("mesh=" + meshes_[facts.setting]->text(candidate.mesh));
    }
    return set;
}

YamlNode SearchSpace::with_mesh(YamlNode tree, std::uint32_t setting, std::uint32_t mesh) const {
    if (spec_.mesh) {
        apply_setting(tree, "mesh=" + meshes_[setting]->text(mesh));
    }
    return tree;
}

YamlNode SearchSpace::tree(const PlanFacts& facts, const Candidate& candidate) const {
    return with_mesh(tree_of(facts.setting), facts.setting, candidate.mesh);
}

Scenario SearchSpace::scenario(const PlanFacts& facts, const Candidate& candidate) const {
    return load_scenario(tree(facts, candidate), path_);
}

}  // namespace podsim::scenarios
