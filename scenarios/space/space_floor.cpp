#include "scenarios/space/space_floor.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace podsim::scenarios {
namespace {

bool leaves_flops(std::string_view key) {
    constexpr std::string_view kKeys[] = {"hardware.slice", "training.remat", "training.schedule",
                                          "training.microbatches"};
    return key.starts_with("overlap.") || std::ranges::find(kKeys, key) != std::end(kKeys);
}

PlanFacts with_chips(PlanFacts facts, int chips) {
    const double more = static_cast<double>(chips) / facts.chips;
    facts.chips = chips;
    facts.peak_flops *= more;
    if (facts.usd_per_second) {
        *facts.usd_per_second *= more;
    }
    return facts;
}

}  // namespace

SpaceFloor::SpaceFloor(const SearchSpace& space) : space_(space) {
    for (const Varied& varied : space.spec().varied) {
        values_.push_back(leaves_flops(varied.key) ? 1 : varied.values.size());
    }
}

void SpaceFloor::add(const PlanFacts& facts) {
    std::vector<std::size_t> kind = space_.choice(facts.setting);
    for (std::size_t key = 0; key < kind.size(); ++key) {
        kind[key] = values_[key] == 1 ? 0 : kind[key];
    }
    known_.try_emplace(std::move(kind), facts);
}

std::optional<std::vector<PlanFacts>> SpaceFloor::facts() const {
    std::size_t kinds = 1;
    for (const std::size_t values : values_) {
        kinds *= values;
    }
    if (known_.size() < kinds) {
        return std::nullopt;
    }
    std::set<int> chips;
    for (std::uint32_t setting = 0; setting < space_.settings(); ++setting) {
        if (const MeshSpace* const meshes = space_.meshes(setting)) {
            chips.insert(meshes->slice().size() * meshes->slices());
        }
    }
    std::vector<PlanFacts> all;
    for (const auto& [kind, facts] : known_) {
        for (const int number : chips) {
            all.push_back(with_chips(facts, number));
        }
    }
    return all;
}

}  // namespace podsim::scenarios
