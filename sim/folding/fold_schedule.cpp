#include "sim/folding/fold_schedule.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace podsim::sim {
namespace {

/// Builds one folded schedule.
class Folding {
public:
    Folding(const Schedule& schedule, const Machine& machine, const Orbits& orbits,
            const ScheduleImages& images)
        : from_(schedule),
          machine_(machine),
          orbits_(orbits),
          ranks_(images.back()->ranks),
          turned_(images_of(images, orbits.turning)),
          stands_for_(firsts_of(schedule.transfers.size(), turned_)) {
        number_kept(images_of(images, orbits.moving));
    }

    FoldedSchedule fold() {
        const std::vector<std::uint32_t> kind = kinds();
        folded_.role_of_place = kind;
        std::map<std::uint32_t, std::uint32_t> place_of_kind;
        for (std::size_t i = 0; i < kind.size(); ++i) {
            if (kind[i] != kAbsent) {
                place_of_kind.try_emplace(kind[i], orbits_.kept[i]);
            }
        }
        for (const auto& [_, place] : place_of_kind) {
            const Role& role = role_at(place);
            const Role* const before = folded_.roles.empty() ? nullptr : &folded_.roles.back();
            folded_.roles.push_back(
                {.first_transfer =
                     before == nullptr ? 0 : before->first_transfer + before->transfer_count,
                 .transfer_count = kept_of_role_[from_.role_of_place[place]],
                 .arrivals = role.arrivals});
        }
        leave_out_arrivals();
        reserve(place_of_kind);
        for (const auto& [_, place] : place_of_kind) {
            const Role& role = role_at(place);
            for (std::uint32_t i = 0; i < role.transfer_count; ++i) {
                if (stands_for_[role.first_transfer + i] == role.first_transfer + i) {
                    add_transfer(role.first_transfer + i, place);
                }
            }
        }
        count_needs();
        return {std::make_shared<const Schedule>(std::move(folded_)), std::move(made_from_)};
    }

private:
    /// Reserves exactly the needed room, since folded schedules are kept for long.
    void reserve(const std::map<std::uint32_t, std::uint32_t>& place_of_kind) {
        std::size_t transfers = 0;
        std::size_t hops = 0;
        std::size_t successors = 0;
        for (const auto& [_, place] : place_of_kind) {
            const Role& role = role_at(place);
            for (std::uint32_t i = role.first_transfer;
                 i < role.first_transfer + role.transfer_count; ++i) {
                const bool kept = stands_for_[i] == i;
                transfers += kept ? 1 : 0;
                hops += kept ? from_.transfers[i].hop_count : 0;
                successors += kept ? from_.transfers[i].successor_count : 0;
            }
        }
        folded_.transfers.reserve(transfers);
        folded_.hops.reserve(hops);
        folded_.successors.reserve(successors);
        made_from_.reserve(transfers);
        followed_last_.assign(turned_.empty() ? 0 : transfers, kNoImage);
    }

    static ScheduleImages images_of(const ScheduleImages& images,
                                    const std::vector<std::size_t>& mirrors) {
        ScheduleImages some;
        for (const std::size_t mirror : mirrors) {
            some.push_back(images[mirror]);
        }
        return some;
    }

    /// Returns [transfer]: the first of its images at its own place, which is kept.
    static std::vector<std::uint32_t> firsts_of(std::size_t transfers,
                                                const ScheduleImages& turned) {
        std::vector<std::uint32_t> first(transfers);
        std::iota(first.begin(), first.end(), 0U);
        for (bool changes = !turned.empty(); changes;) {
            changes = false;
            for (const auto& images : turned) {
                changes = lower_to_images(first, images->of) || changes;
            }
        }
        return first;
    }

    /// Numbers the kept transfers of each role, and sets the kept images of all transfers.
    void number_kept(const ScheduleImages& moved) {
        std::vector<std::uint32_t> number(from_.transfers.size());
        for (const Role& role : from_.roles) {
            std::uint32_t& kept = kept_of_role_.emplace_back(0);
            for (std::uint32_t i = role.first_transfer;
                 i < role.first_transfer + role.transfer_count; ++i) {
                number[i] = kept;
                kept += stands_for_[i] == i ? 1 : 0;
            }
        }
        alike_.resize(from_.transfers.size());
        for (const std::uint32_t first : stands_for_) {
            ++alike_[first];
        }
        kept_as_ = images_of_elements(from_.transfers.size(), moved);
        for (std::vector<std::uint32_t>& images : kept_as_) {
            for (std::uint32_t& image : images) {
                image = image == kNoImage ? kNoImage : number[stands_for_[image]];
            }
        }
    }

    /// Subtracts arrivals that are no longer simulated, since another transfer stands for them.
    void leave_out_arrivals() {
        if (turned_.empty()) {
            return;
        }
        // By role and destination.
        std::vector<std::map<std::uint32_t, std::uint32_t>> left_out;
        for (const Role& role : from_.roles) {
            auto& to = left_out.emplace_back();
            for (std::uint32_t i = role.first_transfer;
                 i < role.first_transfer + role.transfer_count; ++i) {
                if (stands_for_[i] != i && from_.transfers[i].hop_count > 0) {
                    ++to[from_.transfers[i].destination_shift];
                }
            }
        }
        std::vector<std::uint32_t> of_place(machine_.places);
        for (std::uint32_t place = 0; place < machine_.places; ++place) {
            if (from_.role_of_place[place] != kAbsent) {
                for (const auto& [shift, count] : left_out[from_.role_of_place[place]]) {
                    of_place[machine_.shifted(shift, place)] += count;
                }
            }
        }
        std::vector<bool> done(folded_.roles.size());
        for (std::size_t i = 0; i < orbits_.kept.size(); ++i) {
            const std::uint32_t role = folded_.role_of_place[i];
            if (role != kAbsent && !done[role]) {
                done[role] = true;
                folded_.roles[role].arrivals -= of_place[orbits_.kept[i]];
            }
        }
    }

    /// Counts each transfer's needs: the kept transfers that lead to it at one place of its role.
    void count_needs() {
        if (turned_.empty()) {
            return;
        }
        for (Transfer& transfer : folded_.transfers) {
            transfer.needs = 1;
        }
        const std::vector<std::uint32_t>& roles = folded_.role_of_place;
        std::vector<std::uint32_t> place_of_role(folded_.roles.size(), kNoPlace);
        for (std::uint32_t place = 0; place < roles.size(); ++place) {
            if (roles[place] != kAbsent && place_of_role[roles[place]] == kNoPlace) {
                place_of_role[roles[place]] = place;
            }
        }
        for (std::uint32_t place = 0; place < roles.size(); ++place) {
            const Role role = roles[place] == kAbsent ? Role{} : folded_.roles[roles[place]];
            for (std::uint32_t i = 0; i < role.transfer_count; ++i) {
                const Transfer& transfer = folded_.transfers[role.first_transfer + i];
                const std::uint32_t there =
                    transfer.hop_count == 0 ? place
                                            : orbits_.number[machine_.shifted(
                                                  transfer.destination_shift, orbits_.kept[place])];
                for (std::uint32_t next = 0;
                     place_of_role[roles[there]] == there && next < transfer.successor_count;
                     ++next) {
                    ++folded_.transfers[folded_.successors[transfer.first_successor + next]].needs;
                }
            }
        }
    }

    /// Returns [element][transfer]: its image, from the `images` under single mirrors.
    static std::vector<std::vector<std::uint32_t>> images_of_elements(
        std::size_t transfers, const ScheduleImages& images) {
        std::vector<std::vector<std::uint32_t>> all(std::size_t{1} << images.size());
        all[0].resize(transfers);
        std::iota(all[0].begin(), all[0].end(), 0U);
        for (std::size_t mirror = 0; mirror < images.size(); ++mirror) {
            const std::size_t with = std::size_t{1} << mirror;
            for (std::size_t element = 0; element < with; ++element) {
                std::vector<std::uint32_t>& image = all[with + element];
                image = all[element];
                for (std::uint32_t& transfer : image) {
                    transfer = transfer == kNoImage ? kNoImage : images[mirror]->of[transfer];
                }
            }
        }
        return all;
    }

    [[nodiscard]] const Role& role_at(std::uint32_t place) const {
        return from_.roles[from_.role_of_place[place]];
    }

    /// Returns [role]: the shifts that its messages use.
    [[nodiscard]] std::vector<std::vector<std::uint32_t>> shifts_in_use() const {
        std::vector<std::vector<std::uint32_t>> all;
        for (const Role& role : from_.roles) {
            std::vector<bool> used(machine_.shifts.size() / machine_.places);
            for (std::uint32_t i = 0; i < role.transfer_count; ++i) {
                const Transfer& transfer = from_.transfers[role.first_transfer + i];
                if (transfer.hop_count == 0) {
                    continue;
                }
                used[transfer.destination_shift] = true;
                for (std::uint32_t hop = 0; hop < transfer.hop_count; ++hop) {
                    used[from_.hops[transfer.first_hop + hop].shift] = true;
                }
            }
            std::vector<std::uint32_t>& shifts = all.emplace_back();
            for (std::uint32_t shift = 0; shift < used.size(); ++shift) {
                if (used[shift]) {
                    shifts.push_back(shift);
                }
            }
        }
        return all;
    }

    /// Returns [kept place]: its kind, numbered from 0; kAbsent for places that do not participate.
    /// Kinds are refined until all places that a kind's messages meet have equal kinds and equal
    /// elements.
    [[nodiscard]] std::vector<std::uint32_t> kinds() const {
        const std::vector<std::vector<std::uint32_t>> used = shifts_in_use();
        std::vector<std::uint32_t> kind;
        for (const std::uint32_t place : orbits_.kept) {
            kind.push_back(from_.role_of_place[place]);
        }
        for (std::size_t count = 0;;) {
            std::map<std::vector<std::uint32_t>, std::uint32_t> numbers;
            std::vector<std::uint32_t> finer;
            for (std::size_t i = 0; i < kind.size(); ++i) {
                finer.push_back(kind[i] == kAbsent
                                    ? kAbsent
                                    : numbers
                                          .try_emplace(surroundings(i, kind, used),
                                                       static_cast<std::uint32_t>(numbers.size()))
                                          .first->second);
            }
            kind = std::move(finer);
            if (numbers.size() == count) {
                return kind;
            }
            count = numbers.size();
        }
    }

    [[nodiscard]] std::vector<std::uint32_t> surroundings(
        std::size_t kept, const std::vector<std::uint32_t>& kind,
        const std::vector<std::vector<std::uint32_t>>& used) const {
        const std::uint32_t place = orbits_.kept[kept];
        const std::uint32_t role = from_.role_of_place[place];
        std::vector<std::uint32_t> all{role, kind[kept]};
        for (const std::uint32_t shift : used[role]) {
            const std::uint32_t there = machine_.shifted(shift, place);
            all.push_back(orbits_.element[there]);
            all.push_back(kind[orbits_.number[there]]);
        }
        return all;
    }

    void add_transfer(std::uint32_t number, std::uint32_t place) {
        const Transfer& from = from_.transfers[number];
        Transfer& transfer = folded_.transfers.emplace_back(from);
        transfer.rank = ranks_[number];
        transfer.first_hop = static_cast<std::uint32_t>(folded_.hops.size());
        for (std::uint32_t i = 0; i < from.hop_count; ++i) {
            const Hop& hop = from_.hops[from.first_hop + i];
            const std::uint32_t element = orbits_.element[machine_.shifted(hop.shift, place)];
            folded_.hops.push_back({hop.shift, orbits_.ports[element][hop.port]});
        }
        const std::uint32_t there =
            from.hop_count == 0 ? place : machine_.shifted(from.destination_shift, place);
        const std::vector<std::uint32_t>& kept = kept_as_[orbits_.element[there]];
        const Role& at = folded_.roles[folded_.role_of_place[orbits_.number[there]]];
        transfer.first_successor = static_cast<std::uint32_t>(folded_.successors.size());
        for (std::uint32_t i = 0; i < from.successor_count; ++i) {
            folded_.successors.push_back(kept[from_.successors[from.first_successor + i]] +
                                         at.first_transfer);
        }
        if (!turned_.empty()) {
            transfer.copies = static_cast<std::uint8_t>(from.copies * alike_[number]);
            keep_distinct(transfer);
        }
        made_from_.push_back(number);
    }

    /// Removes repeated successors: a successor of several copies follows them once.
    void keep_distinct(Transfer& transfer) {
        if (transfer.successor_count < 2) {
            return;
        }
        const auto number = static_cast<std::uint32_t>(folded_.transfers.size() - 1);
        const auto again = [&](std::uint32_t successor) {
            return std::exchange(followed_last_[successor], number) == number;
        };
        const auto first = folded_.successors.begin() + transfer.first_successor;
        folded_.successors.erase(std::remove_if(first, folded_.successors.end(), again),
                                 folded_.successors.end());
        transfer.successor_count =
            static_cast<std::uint32_t>(folded_.successors.size()) - transfer.first_successor;
    }

    const Schedule& from_;
    const Machine& machine_;
    const Orbits& orbits_;
    const std::vector<std::uint64_t>& ranks_;
    const ScheduleImages turned_;                  ///< by mirrors that move no places
    const std::vector<std::uint32_t> stands_for_;  ///< [transfer]: the kept one that does the same
    std::vector<std::uint32_t> alike_;             ///< [kept transfer]: how many it stands for
    /// [element][transfer]: the kept image, counted from the first of its role.
    std::vector<std::vector<std::uint32_t>> kept_as_;
    std::vector<std::uint32_t> kept_of_role_;  ///< [role of from_]
    Schedule folded_;
    std::vector<std::uint32_t> made_from_;      ///< [transfer of folded_]: index in from_
    std::vector<std::uint32_t> followed_last_;  ///< [transfer of folded_]: its last predecessor
};

}  // namespace

FoldedSchedule fold_schedule(const Schedule& schedule, const Machine& machine, const Orbits& orbits,
                             const ScheduleImages& images) {
    return Folding(schedule, machine, orbits, images).fold();
}

FoldedSchedule with_bytes_of(const FoldedSchedule& folded, const Schedule& schedule) {
    Schedule other = *folded.schedule;
    for (std::size_t i = 0; i < other.transfers.size(); ++i) {
        const Transfer& from = schedule.transfers[folded.from[i]];
        other.transfers[i].bytes = from.bytes;
        other.transfers[i].bytes_before = from.bytes_before;
    }
    return {std::make_shared<const Schedule>(std::move(other)), folded.from};
}

}  // namespace podsim::sim
