#include "sim/folding/fold_by_mirrors.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "sim/folding/fold_schedule.h"
#include "sim/folding/images.h"
#include "sim/folding/known_images.h"
#include "sim/folding/link_order.h"
#include "sim/folding/workload_symmetry.h"

namespace podsim::sim {
namespace {

bool alike_but_for_bytes(const Transfer& one, const Transfer& other) {
    return one.first_hop == other.first_hop && one.hop_count == other.hop_count &&
           one.destination_shift == other.destination_shift &&
           one.first_successor == other.first_successor &&
           one.successor_count == other.successor_count && one.needs == other.needs &&
           one.phase == other.phase && one.phase_per_hop == other.phase_per_hop &&
           one.reads == other.reads && one.writes == other.writes && one.copies == other.copies &&
           one.rank == other.rank;
}

/// True if both schedules have the same messages over the same links in the same order, of any
/// size.
bool alike_but_for_bytes(const Schedule& one, const Schedule& other) {
    return one.transfers.size() == other.transfers.size() && one.roles == other.roles &&
           one.role_of_place == other.role_of_place && one.successors == other.successors &&
           one.hops == other.hops &&
           std::ranges::equal(
               one.transfers, other.transfers,
               [](const Transfer& a, const Transfer& b) { return alike_but_for_bytes(a, b); });
}

/// True if every transfer has the bytes of its image.
bool bytes_are_symmetric(const Schedule& schedule, const std::vector<std::uint32_t>& image) {
    for (std::size_t i = 0; i < image.size(); ++i) {
        if (image[i] == kNoImage) {
            continue;
        }
        const Transfer& one = schedule.transfers[i];
        const Transfer& other = schedule.transfers[image[i]];
        if (one.bytes != other.bytes || one.bytes_before != other.bytes_before) {
            return false;
        }
    }
    return true;
}

bool commute(const std::vector<std::uint32_t>& one, const std::vector<std::uint32_t>& other) {
    for (std::size_t i = 0; i < one.size(); ++i) {
        if (one[i] != kNoImage && other[one[i]] != one[other[i]]) {
            return false;
        }
    }
    return true;
}

class Fold {
public:
    Fold(const Workload& workload, KnownImages* known)
        : workload_(workload),
          alike_(workload.machine),
          images_(workload_.schedules.size()),
          own_(workload_.schedules.size()),
          known_(workload_.schedules.size()),
          used_(workload_.schedules.size()) {
        for (const OperationSpec& operation : workload_.operations) {
            used_[operation.schedule] = true;
        }
        for (std::size_t i = 0; i < used_.size(); ++i) {
            like_.push_back(first_like(i));
        }
        for (std::size_t i = 0; i < known_.size(); ++i) {
            known_[i] = known != nullptr ? known->of(workload_.schedules[i]) : nullptr;
            known_[i] = known_[i] != nullptr ? known_[i] : &own_[i];
        }
    }

    /// Accepts the mirror if it is a symmetry. Mirrors are offered in the order of their list.
    void offer(const Mirror& mirror) {
        const std::size_t number = offered_++;
        if ((!moves_places(mirror) && !exchanges_used_ports(mirror)) ||
            !machine_is_symmetric(workload_, mirror) ||
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
        ScheduleImages found(images_.size());
        for (std::size_t i = 0; i < images_.size(); ++i) {
            if (used_[i] && (found[i] = images(i, number, mirrored)) == nullptr) {
                return;
            }
        }
        for (std::size_t i = 0; i < images_.size(); ++i) {
            images_[i].push_back(std::move(found[i]));
        }
        mirrors_ = std::move(with);
        taken_ |= 1U << number;
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
            workload.schedules.push_back(used_[i] ? folded_schedule(i, orbits) : unused());
        }
        workload.operations = workload_.operations;
        fold_placements(orbits, workload);
        workload.graphs = workload_.graphs;
        workload.graph_of_place = of_kept(workload_.graph_of_place, orbits);
        workload.tables = workload_.tables;
        folded.representatives = representatives(orbits);
        return folded;
    }

private:
    /// True if a message crosses one of the ports that the mirror exchanges.
    [[nodiscard]] bool exchanges_used_ports(const Mirror& mirror) const {
        for (std::size_t i = 0; i < used_.size(); ++i) {
            if (used_[i] && std::ranges::any_of(workload_.schedules[i].hops, [&](const Hop& hop) {
                    return mirror.port[hop.port] != hop.port;
                })) {
                return true;
            }
        }
        return false;
    }

    /// Returns the schedule's images under one more mirror; nullptr if the mirror is no symmetry of
    /// it.
    std::shared_ptr<const TransferImages> images(std::size_t schedule, std::size_t mirror,
                                                 const MirroredMachine& mirrored) {
        const auto [entry, added] = known_[schedule]->images.try_emplace({taken_, mirror});
        if (added) {
            entry->second = images_of_like(schedule, mirror);
            if (entry->second == nullptr) {
                entry->second = find_images(schedule, mirrored);
            }
        }
        return entry->second;
    }

    /// Returns the first schedule in use that differs from this one in bytes alone.
    [[nodiscard]] std::size_t first_like(std::size_t schedule) const {
        for (std::size_t other = 0; used_[schedule] && other < schedule; ++other) {
            if (used_[other] &&
                alike_but_for_bytes(workload_.schedules[other], workload_.schedules[schedule])) {
                return other;
            }
        }
        return schedule;
    }

    /// Returns the images of its like schedule, if they also hold for its own bytes; otherwise
    /// nullptr.
    [[nodiscard]] std::shared_ptr<const TransferImages> images_of_like(std::size_t schedule,
                                                                       std::size_t mirror) const {
        const std::size_t like = like_[schedule];
        if (like == schedule || images_[like] != images_[schedule]) {
            return nullptr;
        }
        const auto& images = known_[like]->images;
        const auto found = images.find({taken_, mirror});
        return found != images.end() && found->second != nullptr &&
                       bytes_are_symmetric(workload_.schedules[schedule], found->second->of)
                   ? found->second
                   : nullptr;
    }

    std::shared_ptr<const TransferImages> find_images(std::size_t number,
                                                      const MirroredMachine& mirrored) {
        const Schedule& schedule = workload_.schedules[number];
        if (schedule.role_of_place.size() != workload_.machine.places) {
            return nullptr;
        }
        std::optional<ScheduleFacts>& facts = known_[number]->facts;
        if (!facts) {
            facts.emplace(schedule);
        }
        auto images = images_of_transfers(schedule, *facts, alike_, mirrored);
        if (!images) {
            return nullptr;
        }
        bool all_commute = true;
        for (std::size_t other = 0; other < mirrors_.size(); ++other) {
            if (!commute(images_[number][other]->of, *images)) {
                if (moves_places(*mirrors_[other]) || moves_places(*mirrored.mirror)) {
                    return nullptr;
                }
                all_commute = false;
            }
        }
        std::vector<std::uint64_t> ranks = ranks_of(number);
        lower_to_images(ranks, *images);
        while (!all_commute && lower_further(number, *images, ranks)) {
        }
        if (!orders_agree(schedule, workload_.machine, *facts, ranks)) {
            return nullptr;
        }
        return std::make_shared<const TransferImages>(
            TransferImages{std::move(*images), std::move(ranks)});
    }

    /// Repeats the lowering: if mirrors do not commute, an image of images may have the lowest
    /// rank.
    bool lower_further(std::size_t number, const std::vector<std::uint32_t>& images,
                       std::vector<std::uint64_t>& ranks) const {
        bool lowered = lower_to_images(ranks, images);
        for (const auto& before : images_[number]) {
            lowered = lower_to_images(ranks, before->of) || lowered;
        }
        return lowered;
    }

    /// Returns the ranks common to all images so far; before the first mirror, those of the
    /// schedule.
    [[nodiscard]] std::vector<std::uint64_t> ranks_of(std::size_t number) const {
        if (!images_[number].empty()) {
            return images_[number].back()->ranks;
        }
        std::vector<std::uint64_t> ranks;
        ranks.reserve(workload_.schedules[number].transfers.size());
        for (const Transfer& transfer : workload_.schedules[number].transfers) {
            ranks.push_back(transfer.rank);
        }
        return ranks;
    }

    [[nodiscard]] std::shared_ptr<const Schedule> folded_schedule(std::size_t number,
                                                                  const Orbits& orbits) const {
        FoldedSchedule& folded = known_[number]->folded[taken_];
        if (folded.schedule == nullptr) {
            const Schedule& schedule = workload_.schedules[number];
            const std::size_t like = like_[number];
            folded = like != number && images_[like] == images_[number]
                         ? with_bytes_of(known_[like]->folded.at(taken_), schedule)
                         : fold_schedule(schedule, workload_.machine, orbits, images_[number]);
        }
        return folded.schedule;
    }

    static std::shared_ptr<const Schedule> unused() { return std::make_shared<const Schedule>(); }

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
        // A placement names roles of its schedule; folding has renumbered them in each schedule.
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
    std::size_t offered_ = 0;
    std::uint32_t taken_ = 0;                      ///< mirrors_ as bits
    std::vector<ScheduleImages> images_;           ///< [schedule]
    std::vector<KnownImages::OfSchedule> own_;     ///< [schedule]; for those not in the cache
    std::vector<KnownImages::OfSchedule*> known_;  ///< [schedule]
    /// [schedule]: true if an operation uses it. Those without places are unused after
    /// with_places().
    std::vector<bool> used_;
    std::vector<std::size_t> like_;  ///< [schedule]: first_like
};

std::optional<MirrorFold> fold_placed(const Workload& workload, std::span<const Mirror> mirrors,
                                      KnownImages* known) {
    Fold fold(workload, known);
    for (const Mirror& mirror : mirrors) {
        fold.offer(mirror);
    }
    return fold.fold();
}

}  // namespace

std::optional<MirrorFold> fold_by_mirrors(const Workload& workload, std::span<const Mirror> mirrors,
                                          KnownImages* known) {
    if (mirrors.empty() || !workload.machine.index_at_shared.empty()) {
        return std::nullopt;
    }
    for (const Schedule& schedule : workload.schedules) {
        if (schedule.role_of_place.empty()) {
            return fold_placed(with_places(workload), mirrors, known);
        }
    }
    return fold_placed(workload, mirrors, known);
}

}  // namespace podsim::sim
