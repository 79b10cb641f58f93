// The space of a search: the keys that may vary, and the scenario of each of its plans.
//
// A setting is a value of each varied key; a plan is a setting with a mesh.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/scenario/scenario_source.h"
#include "scenarios/src/search/mesh_space.h"
#include "scenarios/src/search/plan_facts.h"
#include "scenarios/src/search/search_spec.h"
#include "sim/base/error.h"

namespace podsim::scenarios {

/// The plan of the scenario itself.
struct OwnPlan {
    YamlNode tree{};
    std::string refused{};  ///< reason why it cannot be run
    PlanFacts facts{};
    /// Its mesh in the space, under facts.setting. The space may lack it if somebody has listed
    /// values or axes.
    std::optional<Candidate> candidate{};
};

class SearchSpace {
public:
    /// `settings` (--set) apply to all plans. Throws sim::InputError.
    SearchSpace(const ScenarioSource& source, std::span<const std::string> settings,
                const SearchRequest& request);

    [[nodiscard]] const SearchSpec& spec() const { return spec_; }
    [[nodiscard]] std::size_t settings() const { return settings_; }
    /// Returns the meshes of a setting; null if its machine is invalid (why_not).
    [[nodiscard]] const MeshSpace* meshes(std::uint32_t setting) const {
        return machines_[machine_of_[setting]].meshes.get();
    }
    [[nodiscard]] std::string why_not(std::uint32_t setting) const {
        return reason_of(*machines_[machine_of_[setting]].why_not);
    }

    /// Returns the number of plans of the search: every setting with every mesh, except for
    /// repeated ones. If a value has no effect on a class of meshes, its validity is checked once,
    /// with the first values of all other keys.
    [[nodiscard]] std::uint64_t plans() const;
    /// True if a setting is another's plan on meshes of these sizes, provided that its values are
    /// valid; `repeated` checks this for each.
    [[nodiscard]] bool is_idle(std::uint32_t setting, const MeshSpace::Class& sizes) const {
        return first_alike(setting, sizes) != setting;
    }
    /// Returns the first setting that is the same plan on these meshes, which are searched, if it
    /// is another. The overlap of collectives along an axis, for example, has no effect if the axis
    /// has one member.
    [[nodiscard]] std::optional<std::uint32_t> repeated(std::uint32_t setting,
                                                        const MeshSpace::Class& sizes) const;
    /// Throws sim::InputError if no plan can be read as a scenario: the error of the plan with the
    /// fewest faults. It checks one mesh of each class of sizes.
    void check_any() const;

    /// Returns why a plan is refused, the first of several reasons, and its position. Its numbers,
    /// by which candidates differ, become N.
    [[nodiscard]] std::string reason_of(const sim::InputError& error) const;

    /// Returns the settings that make the scenario a candidate's, as --set takes them.
    [[nodiscard]] std::vector<std::string> set(const PlanFacts& facts,
                                               const Candidate& candidate) const;
    /// Returns the scenario of a candidate. Throws sim::InputError if it is invalid.
    [[nodiscard]] Scenario scenario(const PlanFacts& facts, const Candidate& candidate) const;
    [[nodiscard]] YamlNode tree(const PlanFacts& facts, const Candidate& candidate) const;
    /// Return the scenario of a setting, without a mesh if meshes are searched, and with one.
    [[nodiscard]] YamlNode tree_of(std::uint32_t setting) const;
    [[nodiscard]] YamlNode with_mesh(YamlNode tree, std::uint32_t setting,
                                     std::uint32_t mesh) const;
    [[nodiscard]] const std::string& path() const { return path_; }
    /// Returns none if the scenario leaves its mesh to the search.
    [[nodiscard]] const std::optional<OwnPlan>& own() const;
    /// Lists the meshes among which `own` finds its own. Returns false if `stop` returned true
    /// before that was done.
    bool list_own(const std::function<bool()>& stop) const;
    /// Throws sim::InputError if it is invalid.
    [[nodiscard]] Scenario own_scenario() const;
    /// Returns the fingerprint of everything that decides what a candidate is and what its result
    /// is, including the version of podsim.
    [[nodiscard]] const std::string& fingerprint() const { return fingerprint_; }
    /// Returns the scenario's `name`, or the name of its file without one.
    [[nodiscard]] std::string name() const;

    /// Returns the index of each key's value in a setting.
    [[nodiscard]] std::vector<std::size_t> choice(std::uint32_t setting) const;
    /// Returns the number of `plans` that belong to these settings of one machine, without repeated
    /// ones.
    [[nodiscard]] std::uint64_t plans_of(
        const MeshSpace& meshes, std::span<const std::uint32_t> settings,
        const std::function<bool(std::uint32_t, const MeshSpace::Class&)>& is_repeated) const;

private:
    [[nodiscard]] bool is_idle(const Varied& varied, const MeshSpace& meshes,
                               const MeshSpace::Class& sizes) const;
    [[nodiscard]] std::uint32_t first_alike(std::uint32_t setting,
                                            const MeshSpace::Class& sizes) const;
    void add_machine(std::uint32_t setting, const std::optional<Scenario>& own);
    [[nodiscard]] std::vector<MeshAxis> mesh_axes() const;
    [[nodiscard]] std::optional<Scenario> read_own();
    [[nodiscard]] std::optional<std::uint32_t> own_setting() const;
    void find_own() const;
    /// The machine of a setting: its meshes, or why it is invalid.
    struct Machine {
        std::shared_ptr<const MeshSpace> meshes{};
        std::optional<sim::InputError> why_not{};
    };

    std::string path_;
    std::string fingerprint_;
    YamlNode base_;
    SearchSpec spec_;
    mutable std::optional<OwnPlan> own_;
    mutable std::once_flag own_is_found_;
    std::size_t settings_ = 1;
    std::vector<Machine> machines_;
    std::vector<std::uint32_t> machine_of_;  ///< by setting
};

}  // namespace podsim::scenarios
