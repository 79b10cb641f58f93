// The space of a search: what may vary, and the scenario of each of its plans.
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

#include "scenarios/load/scenario_source.h"
#include "scenarios/space/mesh_space.h"
#include "scenarios/space/plan_facts.h"
#include "scenarios/space/search_spec.h"
#include "scenarios/spec/scenario.h"
#include "sim/base/error.h"

namespace podsim::scenarios {

/// The plan of the scenario itself.
struct OwnPlan {
    YamlNode tree{};
    std::string refused{};  ///< why it cannot be run
    PlanFacts facts{};
    /// Its mesh in the space, under facts.setting. The space may lack it where somebody has listed values or axes.
    std::optional<Candidate> candidate{};
};

class SearchSpace {
public:
    /// `settings` (--set) hold for all. Throws sim::InputError.
    SearchSpace(const ScenarioSource& source, std::span<const std::string> settings,
                const SearchRequest& request);

    [[nodiscard]] const SearchSpec& spec() const { return spec_; }
    [[nodiscard]] std::size_t settings() const { return settings_; }
    /// The meshes of a setting; none where its machine cannot be (why_not).
    [[nodiscard]] const MeshSpace* meshes(std::uint32_t setting) const {
        return machines_[machine_of_[setting]].meshes.get();
    }
    [[nodiscard]] std::string why_not(std::uint32_t setting) const {
        return reason_of(*machines_[machine_of_[setting]].why_not);
    }

    /// What a search goes over: every setting with every mesh, but for repeated ones. Of a value that says nothing of some meshes it is asked
    /// once whether it can be, with the first of all other values.
    [[nodiscard]] std::uint64_t plans() const;
    /// Whether a setting is another's plan on meshes of such sizes, if its values can be: what `repeated` asks of each.
    [[nodiscard]] bool is_idle(std::uint32_t setting, const MeshSpace::Class& sizes) const {
        return first_alike(setting, sizes) != setting;
    }
    /// The first setting that is the same plan on such meshes, which are searched, where it is another: how collectives along an axis
    /// overlap says nothing where the axis has one member.
    [[nodiscard]] std::optional<std::uint32_t> repeated(std::uint32_t setting,
                                                        const MeshSpace::Class& sizes) const;
    /// Throws sim::InputError where no plan can be read as a scenario (of each class of sizes one is looked at): that of the plan with
    /// which least is wrong.
    void check_any() const;

    /// Why a plan is refused, of several reasons the first, and where. Its numbers, by which candidates differ, are N.
    [[nodiscard]] std::string reason_of(const sim::InputError& error) const;

    /// What makes the scenario a candidate's, as --set takes it.
    [[nodiscard]] std::vector<std::string> set(const PlanFacts& facts,
                                               const Candidate& candidate) const;
    /// The scenario of a candidate. Throws sim::InputError where it cannot be.
    [[nodiscard]] Scenario scenario(const PlanFacts& facts, const Candidate& candidate) const;
    [[nodiscard]] YamlNode tree(const PlanFacts& facts, const Candidate& candidate) const;
    /// The scenario of a setting, without a mesh where meshes are searched, and with one.
    [[nodiscard]] YamlNode tree_of(std::uint32_t setting) const;
    [[nodiscard]] YamlNode with_mesh(YamlNode tree, std::uint32_t setting,
                                     std::uint32_t mesh) const;
    [[nodiscard]] const std::string& path() const { return path_; }
    /// None of a scenario that leaves its mesh to the search.
    [[nodiscard]] const std::optional<OwnPlan>& own() const;
    /// Lists the meshes of its machine, by which `own` finds its own. False where `stop` held before that was done.
    bool list_own(const std::function<bool()>& stop) const;
    /// Throws sim::InputError where it cannot be.
    [[nodiscard]] Scenario own_scenario() const;
    /// Of everything that decides what a candidate is and what comes of it, the version of podsim included.
    [[nodiscard]] const std::string& fingerprint() const { return fingerprint_; }
    /// The scenario's `name`, or its file's without one.
    [[nodiscard]] std::string name() const;

    /// Which value of each key a setting has.
    [[nodiscard]] std::vector<std::size_t> choice(std::uint32_t setting) const;
    /// So many of `plans` are of these settings of one machine, where what is repeated is left out.
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
    /// The machine of a setting: its meshes, or why it cannot be.
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
