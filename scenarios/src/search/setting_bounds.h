// Bounds the plans of one setting on meshes of the same sizes, one mesh after the other.
//
// The validity of a plan and its outline (step_outline.h) are computed once for all meshes of the
// same shape.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/src/search/known_bounds.h"
#include "scenarios/src/search/mesh_space.h"
#include "scenarios/src/search/placed_mesh.h"
#include "scenarios/src/search/search_space.h"
#include "scenarios/src/search/step_outline.h"

namespace podsim::scenarios {

/// Meshes of one setting and shape whose plan is not outlined yet. Steps of collective matmuls are
/// many operations, and each shape of rings has others. Until then a weaker bound that needs no
/// outline stands for them (TensorCollectives::in_steps).
struct RoughGroup {
    PlanFacts facts{};  ///< without the lower bound of memory
    sim::Time bound{};  ///< the least over all meshes
    std::vector<std::uint32_t> meshes{};
};

/// A plan that does not fit, and its like on other meshes.
struct Miss {
    PlanFacts facts{};  ///< with the lower bound of its memory
    std::uint32_t mesh = 0;

    /// Returns the excess; the nearest plans have the least.
    [[nodiscard]] double bytes_over() const { return facts.least_peak - facts.capacity; }
};
inline constexpr std::size_t kMostMisses = 64;
/// Keeps the kMostMisses nearest, the nearest first.
void keep_nearest(std::vector<Miss>& misses);

/// Plans of a space that can run and may fit.
struct BoundedPlans {
    std::vector<PlanFacts> facts{};
    std::vector<Candidate> candidates{};  ///< with an index of these facts
    std::uint64_t enumerated = 0;
    std::map<std::string, std::uint64_t> refused{};  ///< counts by reason
    std::uint64_t unfit = 0;                         ///< by the bound of their memory
    std::vector<RoughGroup> rough{};
    std::vector<Miss> misses{};  ///< the nearest that do not fit
    std::uint64_t left = 0;      ///< requested plans that are not bounded

    /// Returns the number of plans of which anything is kept.
    [[nodiscard]] std::size_t held() const;
    /// Appends the plans of others to these.
    void add(BoundedPlans others);
};

class SettingBounds {
public:
    enum class Bounds {
        exact,
        /// By the plan with blocking collectives, for groups of meshes.
        rough,
    };
    /// `meshes` contains those that will be added. `known` is shared by the settings that one
    /// thread bounds.
    SettingBounds(const SearchSpace& space, std::uint32_t setting, const MeshSpace& meshes,
                  Bounds bounds, std::shared_ptr<KnownBounds> known);

    /// Returns rough if the setting's tensor collectives go in steps on these meshes, exact
    /// otherwise.
    static Bounds usual(const SearchSpace& space, std::uint32_t setting, const MeshSpace& meshes,
                        const MeshSpace::Class& sizes);

    /// Adds the plan on a mesh; `placed` is that mesh if meshes are searched.
    void add(std::uint32_t number, const PlacedMesh& placed);
    /// True if all further meshes end like those that were added, refused or unfit.
    [[nodiscard]] bool is_settled() const;
    void add_settled(std::uint64_t meshes);
    /// True if there is a plan to try.
    [[nodiscard]] bool has_any() const { return !plans_.candidates.empty() || !groups_.empty(); }
    [[nodiscard]] BoundedPlans take() &&;

private:
    /// Properties of a mesh's placement beyond its sizes on which a plan depends. These are the
    /// slices that each axis spans and, for collective matmuls and ring attention, everything from
    /// which collectives::step_gather makes their steps: the lengths of their rings and lines and,
    /// if there are several, the number of links that a hop takes along each. Meshes of one shape
    /// are refused, or outlined, alike.
    using Shape = std::vector<int>;
    static Shape spans_of(const topology::DeviceMesh& mesh);
    [[nodiscard]] Shape shape_of(const YamlNode& tree, const topology::DeviceMesh& mesh) const;
    [[nodiscard]] bool is_of_one_shape(const YamlNode& tree) const;
    /// The outline of a shape, or why it has none.
    struct Outlined {
        bool tried = false;
        std::string refused{};
        PlanFacts facts{};
        topology::DeviceMesh mesh{};
        std::unique_ptr<StepOutline> outline{};
        std::optional<std::uint32_t> number{};  ///< index in BoundedPlans::facts
        /// It does not fit, and is among the misses.
        bool missed = false;
    };
    /// Meshes of a shape that are outlined later, or why their plan is refused, or that it does not
    /// fit.
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
    /// The same, or the plan with blocking collectives.
    YamlNode outlined_tree_;
    std::map<Shape, Outlined> outlines_;
    std::map<Shape, Group> groups_;
    /// Reason why plans with these spans are refused, or nothing.
    std::map<Shape, std::string> read_;
    BoundedPlans plans_;
};

}  // namespace podsim::scenarios
