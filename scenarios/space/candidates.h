// The candidates of a search, each with what bounds it.
//
// Whether a plan can run at all, and its outline (step_outline.h), are worked out once for all meshes of the same sizes and shape.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/outline/step_outline.h"
#include "scenarios/space/mesh_space.h"
#include "scenarios/space/search_space.h"
#include "scenarios/watch/watch.h"

namespace podsim::scenarios {

/// Meshes of one setting and shape whose plan is not outlined yet: steps of collective matmuls are many operations, and of each shape of
/// rings others. Until then a weaker bound stands for them that is found without (TensorCollectives::in_steps).
struct RoughGroup {
    PlanFacts facts{};  ///< without the least memory
    sim::Time bound{};  ///< the least of all
    std::vector<std::uint32_t> meshes{};
};

struct CandidateList {
    std::vector<PlanFacts> facts;
    std::vector<Candidate> candidates;  ///< by setting, then by mesh
    std::uint64_t enumerated = 0;
    std::map<std::string, std::uint64_t> refused{};  ///< by the reason, how many
    std::uint64_t unfit = 0;                         ///< by the bound of their memory
    std::vector<RoughGroup> rough{};                 ///< ascending by bound
};

/// Bounds the plans of a space on `jobs` threads; what it gives does not depend on their number.
class Bounding {
public:
    Bounding(const SearchSpace& space, int jobs, Watch* watch)
        : space_(space), jobs_(jobs), watch_(watch) {}

    /// All that can run and may fit.
    [[nodiscard]] CandidateList all() const;
    /// Those of some groups, outlined. `enumerated` stays 0: they have been counted.
    [[nodiscard]] CandidateList refined(std::span<const RoughGroup> groups) const;

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
        std::vector<RoughGroup> rough{};
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
    void outline(const YamlNode& tree, std::uint32_t setting, std::uint32_t mesh,
                 TensorCollectives tensor, Outlined& one) const;
    void bound_mesh(Outlined& one, const topology::DeviceMesh& mesh, std::uint32_t number,
                    Bounded& bounded) const;
    [[nodiscard]] Bounded bound_exactly(std::uint32_t setting, const MeshSpace& space,
                                        std::span<const std::uint32_t> meshes) const;
    [[nodiscard]] Bounded bound_roughly(std::uint32_t setting, const MeshSpace& space,
                                        std::span<const std::uint32_t> meshes) const;
    template <class Work>
    CandidateList collect(std::size_t count, Work work) const;
    [[nodiscard]] std::vector<Task> tasks() const;
    [[nodiscard]] Bounded bound(const Task& task) const;

    const SearchSpace& space_;
    const int jobs_;
    Watch* const watch_;
};

}  // namespace podsim::scenarios
