// The plans of one setting on meshes of the same sizes, one mesh after the other, each with what bounds it.
//
// Whether a plan can run at all, and its outline (step_outline.h), are worked out once for all meshes of the same shape.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/least/known_bounds.h"
#include "scenarios/least/placed_mesh.h"
#include "scenarios/outline/step_outline.h"
#include "scenarios/space/mesh_space.h"
#include "scenarios/space/search_space.h"

namespace podsim::scenarios {

/// Meshes of one setting and shape whose plan is not outlined yet: steps of collective matmuls are many operations, and of each shape of
/// rings others. Until then a weaker bound stands for them that is found without (TensorCollectives::in_steps).
struct RoughGroup {
    PlanFacts facts{};  ///< without the least memory
    sim::Time bound{};  ///< the least of all
    std::vector<std::uint32_t> meshes{};
};

/// A plan that does not fit, and its like on other meshes.
struct Miss {
    PlanFacts facts{};  ///< with the least that it holds
    std::uint32_t mesh = 0;

    /// The nearest have the least.
    [[nodiscard]] double bytes_over() const { return facts.least_peak - facts.capacity; }
};
inline constexpr std::size_t kMostMisses = 64;
/// Keeps kMostMisses of the nearest, the nearest first.
void keep_nearest(std::vector<Miss>& misses);

/// Some plans of a space, those that can run and may fit.
struct BoundedPlans {
    std::vector<PlanFacts> facts{};
    std::vector<Candidate> candidates{};  ///< with an index of these facts
    std::uint64_t enumerated = 0;
    std::map<std::string, std::uint64_t> refused{};  ///< by the reason, how many
    std::uint64_t unfit = 0;                         ///< by the bound of their memory
    std::vector<RoughGroup> rough{};
    std::vector<Miss> misses{};  ///< the nearest of those that do not fit
    std::uint64_t left = 0;      ///< of those that were asked for, not bounded

    /// The plans of which something is kept.
    [[nodiscard]] std::size_t held() const;
    /// Those of others behind these.
    void add(BoundedPlans others);
};

class SettingBounds {
public:
    enum class Bounds {
        exact,
        rough,  ///< by the plan with blocking collectives, for groups of meshes
    };
    /// `meshes` has those that will be added. `known` is shared by settings that one thread bounds.
    SettingBounds(const SearchSpace& space, std::uint32_t setting, const MeshSpace& meshes,
                  Bounds bounds, std::shared_ptr<KnownBounds> known);

    /// Rough where the setting's tensor collectives go in steps on such meshes, exact elsewhere.
    static Bounds usual(const SearchSpace& space, std::uint32_t setting, const MeshSpace& meshes,
                        const MeshSpace::Class& sizes);

    /// The plan on a mesh; `placed` is that mesh where meshes are searched.
    void add(std::uint32_t number, const PlacedMesh& placed);
    /// Whether all further meshes end as those that were added, refused or unfit.
    [[nodiscard]] bool is_settled() const;
    void add_settled(std::uint64_t meshes);
    /// Whether there is a plan to try.
    [[nodiscard]] bool has_any() const { return !plans_.candidates.empty() || !groups_.empty(); }
    [[nodiscard]] BoundedPlans take() &&;

private:
    /// What a plan knows of where its mesh lies beyond its sizes: which slices each axis spans, and of collective matmuls and ring
    /// attention all that collectives::step_gather makes their steps of: how long their rings and lines are, and of several how many
    /// links a hop takes along each. Meshes of one shape are refused, or outlined, alike.
    using Shape = std::vector<int>;
    static Shape spans_of(const topology::DeviceMesh& mesh);
    [[nodiscard]] Shape shape_of(const YamlNode& tree, const topology::DeviceMesh& mesh) const;
    [[nodiscard]] bool is_of_one_shape(const YamlNode& tree) const;
    /// Of a shape: its outline, or why it has none.
    struct Outlined {
        bool tried = false;
        std::string refused{};
        PlanFacts facts{};
        topology::DeviceMesh mesh{};
        std::unique_ptr<StepOutline> outline{};
        std::optional<std::uint32_t> number{};  ///< of BoundedPlans::facts
        bool missed = false;                    ///< it does not fit, and stands among the misses
    };
    /// Meshes of a shape that are outlined later, or why their plan is refused, or that it does not fit.
    struct Group {
        std::string refused{};
        bool missed = false;
        RoughGroup rough{};
    };
    Outlined& outlined(std::uint32_t number, const topology::DeviceMesh& mesh);
    void outline(std::uint32_t number, Outlined& one) const;
    [[nodiscard]] bool is_unfit(const PlanFacts& facts) const;
    void add_unfit(std::uint32_t number, const PlanFacts& facts, bool& missed);
    void add_candidate(std::uint32_t number, const PlacedMesh& mesh, Outlined& one);
    void add_to_group(std::uint32_t number, const PlacedMesh& mesh, const Outlined& one);
    [[nodiscard]] std::string why_refused(std::uint32_t number, const topology::DeviceMesh& mesh);

    const SearchSpace& space_;
    const std::uint32_t setting_;
    const MeshSpace& meshes_;
    const Bounds bounds_;
    std::shared_ptr<KnownBounds> known_;
    YamlNode tree_;
    YamlNode outlined_tree_;  ///< the same, or the plan with blocking collectives
    std::map<Shape, Outlined> outlines_;
    std::map<Shape, Group> groups_;
    std::map<Shape, std::string> read_;  ///< why plans with such spans are refused, or nothing
    BoundedPlans plans_;
};

}  // namespace podsim::scenarios
