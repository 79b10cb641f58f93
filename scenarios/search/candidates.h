// The candidates of a search, each with what bounds it.
//
// A setting is a value of each varied key; a candidate is a setting with a mesh. Whether a plan can run at all, and its outline
// (step_outline.h), are worked out once for all meshes of the same sizes and shape.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/load/scenario_source.h"
#include "scenarios/outline/step_outline.h"
#include "scenarios/search/mesh_space.h"
#include "scenarios/search/search_spec.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/watch/watch.h"
#include "sim/base/error.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

/// What candidates of one setting and one class of sizes have alike.
struct PlanFacts {
    std::uint32_t setting = 0;
    double least_peak = 0;  ///< bytes
    double capacity = 0;
    int chips = 0;
    std::int64_t tokens = 0;                 ///< of a step
    double flops = 0;                        ///< that the MFU counts, of a step
    double peak_flops = 0;                   ///< a second, of all chips
    std::optional<double> usd_per_second{};  ///< of all chips
    std::optional<double> run_tokens{};      ///< report.tokens
};

struct Candidate {
    sim::Time bound{};
    std::uint32_t facts = 0;  ///< an index of CandidateList::facts
    std::uint32_t mesh = 0;   ///< of the setting's meshes; 0 where the mesh is not searched
};

struct CandidateList {
    std::vector<PlanFacts> facts;
    std::vector<Candidate> candidates;  ///< by setting, then by mesh
    std::uint64_t enumerated = 0;
    std::map<std::string, std::uint64_t> refused{};  ///< by the reason, how many
    std::uint64_t unfit = 0;                         ///< by the bound of their memory
};

/// Why a plan is refused, of several reasons the first. Its numbers, by which candidates differ, are N.
std::string reason_of(const sim::InputError& error);
inline constexpr std::string_view kBeyondTheClock = "a step of more than N days";

class SearchSpace {
public:
    /// `settings` (--set) hold for all. Throws sim::InputError.
    SearchSpace(const ScenarioSource& source, std::span<const std::string> settings,
                const SearchRequest& request);

    [[nodiscard]] const SearchSpec& spec() const { return spec_; }
    [[nodiscard]] std::size_t settings() const { return settings_; }
    /// All that can run and may fit, bounded on `jobs` threads. The list does not depend on their number.
    [[nodiscard]] CandidateList candidates(int jobs, Watch* watch) const;

    /// What makes the scenario a candidate's, as --set takes it.
    [[nodiscard]] std::vector<std::string> set(const PlanFacts& facts,
                                               const Candidate& candidate) const;
    /// The scenario of a candidate. Throws sim::InputError where it cannot be.
    [[nodiscard]] Scenario scenario(const PlanFacts& facts, const Candidate& candidate) const;
    [[nodiscard]] YamlNode tree(const PlanFacts& facts, const Candidate& candidate) const;
    [[nodiscard]] const std::string& path() const { return path_; }
    /// The scenario's `name`, or its file's without one.
    [[nodiscard]] std::string name() const;

private:
    /// A setting and one class of the sizes of its meshes.
    struct Task {
        std::uint32_t setting = 0;
        const MeshSpace* space = nullptr;  ///< none: the mesh is not searched
        std::size_t sizes = 0;
    };
    struct Bounded {
        std::vector<PlanFacts> facts{};
        std::vector<Candidate> candidates{};  ///< with an index of these facts
        std::uint64_t enumerated = 0;
        std::map<std::string, std::uint64_t> refused{};
        std::uint64_t unfit = 0;
    };
    /// What a plan knows of where its mesh lies beyond its sizes: which slices each axis spans, and how long the rings and lines are
    /// by which collective matmuls and ring attention take their steps. Meshes of one shape are refused, or outlined, alike.
    using Shape = std::vector<int>;
    [[nodiscard]] static Shape shape_of(const YamlNode& tree, const topology::DeviceMesh& mesh,
                                        const MeshSpace& space);
    /// Of a shape: its outline, or why it has none.
    struct Outlined {
        bool tried = false;
        std::string refused{};
        PlanFacts facts{};
        topology::DeviceMesh mesh{};
        std::unique_ptr<StepOutline> outline{};
        std::optional<std::uint32_t> number{};  ///< of Bounded::facts
    };
    void outline(std::uint32_t setting, std::uint32_t mesh, Outlined& one) const;
    void bound_mesh(Outlined& one, const topology::DeviceMesh& mesh, std::uint32_t number,
                    Bounded& bounded) const;
    [[nodiscard]] YamlNode tree_of(std::uint32_t setting) const;
    [[nodiscard]] std::vector<std::size_t> choice(std::uint32_t setting) const;
    void add_meshes(std::uint32_t setting);
    [[nodiscard]] std::vector<Task> tasks() const;
    [[nodiscard]] Bounded bound(const Task& task) const;

    std::string path_;
    YamlNode base_;
    SearchSpec spec_;
    std::size_t settings_ = 1;
    std::vector<std::shared_ptr<const MeshSpace>>
        spaces_;  ///< by setting; none where its machine cannot be
    std::map<std::uint32_t, std::string> without_machine_;  ///< why, by setting
};

}  // namespace podsim::scenarios
