#include "scenarios/src/search/search_space.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "scenarios/src/base/fingerprint.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/schema.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/study/sweep.h"
#include "sim/base/error.h"
#include "workloads/plan/axis_names.h"

namespace podsim::scenarios {
namespace {

constexpr std::uint64_t kMostSettingsOfSearch = 100'000;

/// Throws if the scenario lacks what a search asks for.
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

/// Keeps those of a setting's values that decide its machine.
std::vector<std::size_t> machine_choice(const std::vector<Varied>& varied,
                                        std::vector<std::size_t> choice) {
    for (std::size_t key = 0; key < choice.size(); ++key) {
        const std::string section = varied[key].key.substr(0, varied[key].key.find('.'));
        // These sections are read by load_hardware.
        if (section != "hardware" && section != "perturb" && section != "inference") {
            choice[key] = 0;
        }
    }
    return choice;
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

/// Throws for a mesh that is set beside a search for the mesh: it would be silently lost.
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
    std::map<std::vector<std::size_t>, std::uint32_t> machines;
    for (std::uint32_t setting = 0; setting < settings_; ++setting) {
        const auto [known, is_new] =
            machines.try_emplace(machine_choice(spec_.varied, choice(setting)), machines_.size());
        if (is_new) {
            add_machine(setting, own);
        }
        machine_of_.push_back(known->second);
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

const std::optional<OwnPlan>& SearchSpace::own() const {
    std::call_once(own_is_found_, [&] { find_own(); });
    return own_;
}

/// Returns the setting of the scenario's values, if every key may have its value.
std::optional<std::uint32_t> SearchSpace::own_setting() const {
    if (!own_ || !own_->refused.empty()) {
        return std::nullopt;
    }
    std::uint32_t setting = 0;
    for (std::size_t key = 0; key < spec_.varied.size(); ++key) {
        if (!spec_.own[key]) {
            return std::nullopt;
        }
        setting =
            static_cast<std::uint32_t>(setting * spec_.varied[key].values.size() + *spec_.own[key]);
    }
    return setting;
}

bool SearchSpace::list_own(const std::function<bool()>& stop) const {
    const std::optional<std::uint32_t> setting = own_setting();
    return !setting || meshes(*setting) == nullptr || meshes(*setting)->list(stop);
}

void SearchSpace::find_own() const {
    const std::optional<std::uint32_t> setting = own_setting();
    const MeshSpace* const found = setting ? meshes(*setting) : nullptr;
    if (found == nullptr || !found->own()) {
        return;
    }
    own_->candidate = Candidate{.mesh = *found->own()};
    own_->facts.setting = repeated(*setting, found->class_of(*found->own())).value_or(*setting);
}

std::string SearchSpace::name() const {
    const YamlNode* const name = base_.find("name");
    return name != nullptr && name->kind == YamlNode::Kind::scalar
               ? name->text
               : std::filesystem::path(path_).stem().string();
}

void SearchSpace::check_any() const {
    std::exception_ptr least;
    std::size_t faults = 0;
    for (std::uint32_t setting = 0; setting < settings_; ++setting) {
        const YamlNode tree = tree_of(setting);
        const MeshSpace* const meshes = this->meshes(setting);
        for (std::size_t i = 0; i < (meshes != nullptr ? meshes->classes().size() : 1); ++i) {
            try {
                if (meshes == nullptr) {
                    throw *machines_[machine_of_[setting]].why_not;
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

/// Returns the axes of the search. Stages differ by their ranks; other members do if they may do
/// unequal work.
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

/// Adds the machine of a setting. Machines with the same meshes share them; an invalid one says
/// why.
void SearchSpace::add_machine(std::uint32_t setting, const std::optional<Scenario>& own) {
    Machine& machine = machines_.emplace_back();
    try {
        const IdealHardware hardware = load_hardware(tree_of(setting), path_);
        if (!spec_.mesh) {
            machine.meshes = std::make_shared<MeshSpace>(hardware, std::vector<MeshAxis>{});
            return;
        }
        for (const Machine& other : machines_) {
            if (other.meshes != nullptr && other.meshes->is_of(hardware)) {
                machine.meshes = other.meshes;
                return;
            }
        }
        const bool of_own =
            own && own->hardware.slice == hardware.slice && own->hardware.slices == hardware.slices;
        const OwnMesh mesh{of_own ? own->step().mesh : topology::DeviceMesh(), spec_.usual_axes};
        machine.meshes =
            std::make_shared<MeshSpace>(hardware, mesh_axes(), of_own ? &mesh : nullptr);
    } catch (const sim::InputError& error) {
        const sim::InputError located =
            error.mark().file.empty() ? error.at(spec_.mesh_place) : error;
        if (settings_ == 1) {
            throw located;
        }
        machine.why_not = located;
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
        set.push_back("mesh=" + meshes(facts.setting)->text(candidate.mesh));
    }
    return set;
}

YamlNode SearchSpace::with_mesh(YamlNode tree, std::uint32_t setting, std::uint32_t mesh) const {
    if (spec_.mesh) {
        apply_setting(tree, "mesh=" + meshes(setting)->text(mesh));
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
