#include "sim/mirror/fold_by_mirrors.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "sim/mirror/fold_schedule.h"
#include "sim/mirror/images.h"

namespace podsim::sim {
namespace {

/// Whether links, work and programs of all places are those of their images.
bool machine_is_symmetric(const Workload& workload, const Mirror& mirror) {
    const Machine& machine = workload.machine;
    for (std::size_t place = 0; place < machine.places; ++place) {
        const std::size_t image = mirror.place[place];
        if (mirror.place[image] != place ||
            workload.graph_of_place[place] != workload.graph_of_place[image] ||
            (!machine.slowdown.empty() && machine.slowdown[place] != machine.slowdown[image])) {
            return false;
        }
        for (std::size_t port = 0; port < machine.ports; ++port) {
            if (machine.links[machine.link(place, port)] !=
                machine.links[machine.link(image, mirror.port[port])]) {
                return false;
            }
        }
    }
    return true;
}

/// Whether those that take part by each placement do so in the roles of the schedules used with it, or in none, with their images.
bool placements_are_symmetric(const Workload& workload, const Mirror& mirror) {
    for (const OperationSpec& operation : workload.operations) {
        if (operation.placement == kOwnPlacement) {
            continue;
        }
        const std::vector<std::uint32_t>& placed = workload.placements[operation.placement];
        const std::vector<std::uint32_t>& own =
            workload.schedules[operation.schedule].role_of_place;
        for (std::size_t place = 0; place < placed.size(); ++place) {
            if ((placed[place] != kAbsent && placed[place] != own[place]) ||
                (placed[place] == kAbsent) != (placed[mirror.place[place]] == kAbsent)) {
                return false;
            }
        }
    }
    return true;
}

/// The workload with a schedule of its own for each placement of one that has no places.
Workload with_places(Workload workload) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> placed;
    for (OperationSpec& operation : workload.operations) {
        if (operation.placement == kOwnPlacement ||
            !workload.schedules[operation.schedule].role_of_place.empty()) {
            continue;
        }
        const auto [entry, added] =
            placed.try_emplace({operation.schedule, operation.placement},
                               static_cast<std::uint32_t>(workload.schedules.size()));
        if (added) {
            Schedule schedule = workload.schedules[operation.schedule];
            schedule.role_of_place = workload.placements[operation.placement];
            workload.schedules.push_back(std::move(schedule));
        }
        operation.schedule = entry->second;
        operation.placement = kOwnPlacement;
    }
    return workload;
}

class Fold {
public:
    explicit Fold(const Workload& workload)
        : workload_(workload),
          alike_(workload.machine),
          images_(workload_.schedules.size()),
          facts_(workload_.schedules.size()),
          used_(workload_.schedules.size()) {
        for (const OperationSpec& operation : workload_.operations) {
            used_[operation.schedule] = true;
        }
    }

    /// Takes the mirror in if it is a symmetry.
    void offer(const Mirror& mirror) {
        if (!machine_is_symmetric(workload_, mirror) ||
            !placements_are_symmetric(workload_, mirror)) {
            return;
        }
        std::vector<const Mirror*> with = mirrors_;
        with.push_back(&mirror);
        if (!orbits_of(workload_.machine, with)) {
            return;
        }
        const MirroredMachine mirrored{&mirror,
                                       images_of_shifts(workload_.machine, alike_, mirror)};
        std::vector<Found> found(images_.size());
        for (std::size_t i = 0; i < images_.size(); ++i) {
            if (used_[i] && !find_images(i, mirrored, found[i])) {
                return;
            }
        }
        for (std::size_t i = 0; i < images_.size(); ++i) {
            images_[i].of_mirror.push_back(std::move(found[i].images));
            images_[i].ranks = std::move(found[i].ranks);
        }
        mirrors_ = std::move(with);
    }

    [[nodiscard]] std::optional<MirrorFold> fold() const {
        if (mirrors_.empty()) {
            return std::nullopt;
        }
        const Orbits orbits = *orbits_of(workload_.machine, mirrors_);
        MirrorFold folded;
        Workload& workload = folded.workload;
        workload.machine = machine(orbits);
        for (std::size_t i = 0; i < images_.size(); ++i) {
            workload.schedules.push_back(
                used_[i]
                    ? fold_schedule(workload_.schedules[i], workload_.machine, orbits, images_[i])
                    : Schedule{});
        }
        workload.operations = workload_.operations;
        fold_placements(orbits, workload);
        workload.graphs = workload_.graphs;
        workload.graph_of_place = of_kept(workload_.graph_of_place, orbits);
        folded.representatives = representatives(orbits);
        return folded;
    }

private:
    /// What one more mirror makes of a schedule.
    struct Found {
        std::vector<std::uint32_t> images;  ///< [transfer]
        std::vector<std::uint64_t> ranks;   ///< [transfer]: common to its images so far
    };

    bool find_images(std::size_t number, const MirroredMachine& mirrored, Found& found) {
        const Schedule& schedule = workload_.schedules[number];
        if (schedule.role_of_place.size() != workload_.machine.places) {
            return false;
        }
        if (!facts_[number]) {
            facts_[number].emplace(schedule, alike_);
            for (const Transfer& transfer : schedule.transfers) {
                images_[number].ranks.push_back(transfer.rank);
            }
        }
        auto images = images_of_transfers(schedule, *facts_[number], alike_, mirrored);
        if (!images) {
            return false;
        }
        for (const std::vector<std::uint32_t>& other : images_[number].of_mirror) {
            for (std::size_t i = 0; i < other.size(); ++i) {
                if (other[i] != kNoImage && (*images)[other[i]] != other[(*images)[i]]) {
                    return false;
                }
            }
        }
        auto ranks = common_ranks(*facts_[number], images_[number].ranks, *images);
        if (!ranks) {
            return false;
        }
        found = {std::move(*images), std::move(*ranks)};
        return true;
    }

    template <class T>
    static std::vector<T> of_kept(const std::vector<T>& values, const Orbits& orbits) {
        std::vector<T> kept;
        for (const std::uint32_t place : orbits.kept) {
            kept.push_back(values[place]);
        }
        return kept;
    }

    [[nodiscard]] Machine machine(const Orbits& orbits) const {
        const Machine& from = workload_.machine;
        Machine to = from;
        to.places = orbits.kept.size();
        to.links.clear();
        to.shifts.clear();
        for (const std::uint32_t place : orbits.kept) {
            const auto first =
                from.links.begin() + static_cast<std::ptrdiff_t>(from.link(place, 0));
            to.links.insert(to.links.end(), first, first + static_cast<std::ptrdiff_t>(from.ports));
        }
        for (std::size_t shift = 0; shift * from.places < from.shifts.size(); ++shift) {
            for (const std::uint32_t place : orbits.kept) {
                const std::uint32_t there = from.shifted(shift, place);
                to.shifts.push_back(there == kNoPlace ? kNoPlace : orbits.number[there]);
            }
        }
        if (!from.slowdown.empty()) {
            to.slowdown = of_kept(from.slowdown, orbits);
        }
        return to;
    }

    void fold_placements(const Orbits& orbits, Workload& workload) const {
        // A placement names roles of the schedules used with it, whose numbers have changed with each of them.
        for (OperationSpec& operation : workload.operations) {
            if (operation.placement == kOwnPlacement) {
                continue;
            }
            const std::vector<std::uint32_t>& placed = workload_.placements[operation.placement];
            std::vector<std::uint32_t> roles = workload.schedules[operation.schedule].role_of_place;
            for (std::size_t i = 0; i < roles.size(); ++i) {
                roles[i] = placed[orbits.kept[i]] == kAbsent ? kAbsent : roles[i];
            }
            const auto found = std::ranges::find(workload.placements, roles);
            operation.placement = static_cast<std::uint32_t>(found - workload.placements.begin());
            if (found == workload.placements.end()) {
                workload.placements.push_back(std::move(roles));
            }
        }
    }

    [[nodiscard]] Representatives representatives(const Orbits& orbits) const {
        Representatives all{.place = orbits.number, .port = {}, .simulated = orbits.kept.size()};
        for (const std::uint32_t element : orbits.element) {
            all.port.push_back(orbits.ports[element]);
        }
        return all;
    }

    const Workload& workload_;
    const AlikeShifts alike_;
    std::vector<const Mirror*> mirrors_;
    std::vector<ScheduleImages> images_;               ///< [schedule]
    std::vector<std::optional<ScheduleFacts>> facts_;  ///< [schedule], where asked for
    std::vector<bool> used_;  ///< [schedule]: those without places no longer are
};

std::optional<MirrorFold> fold_placed(const Workload& workload, std::span<const Mirror> mirrors) {
    Fold fold(workload);
    for (const Mirror& mirror : mirrors) {
        fold.offer(mirror);
    }
    return fold.fold();
}

}  // namespace

std::optional<MirrorFold> fold_by_mirrors(const Workload& workload,
                                          std::span<const Mirror> mirrors) {
    if (mirrors.empty() || !workload.machine.index_at_shared.empty()) {
        return std::nullopt;
    }
    for (const Schedule& schedule : workload.schedules) {
        if (schedule.role_of_place.empty()) {
            return fold_placed(with_places(workload), mirrors);
        }
    }
    return fold_placed(workload, mirrors);
}

}  // namespace podsim::sim
