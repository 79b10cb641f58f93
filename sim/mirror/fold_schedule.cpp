#include "sim/mirror/fold_schedule.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace podsim::sim {
namespace {

/// Writes one schedule.
class Folding {
public:
    Folding(const Schedule& schedule, const Machine& machine, const Orbits& orbits,
            const ScheduleImages& images)
        : from_(schedule),
          machine_(machine),
          orbits_(orbits),
          ranks_(images.back()->ranks),
          image_(images_of_elements(schedule.transfers.size(), images)) {}

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
            Role next = role;
            next.first_transfer = folded_.roles.empty() ? 0
                                                        : folded_.roles.back().first_transfer +
                                                              folded_.roles.back().transfer_count;
            folded_.roles.push_back(next);
            first_of_role_.push_back(role.first_transfer);
        }
        reserve();
        for (const auto& [_, place] : place_of_kind) {
            const Role& role = role_at(place);
            for (std::uint32_t i = 0; i < role.transfer_count; ++i) {
                add_transfer(role.first_transfer + i, place);
            }
        }
        return {std::make_shared<const Schedule>(std::move(folded_)), std::move(first_of_role_)};
    }

private:
    /// Room for what the roles' transfers come to: what is folded is kept for long.
    void reserve() {
        std::size_t transfers = 0;
        std::size_t hops = 0;
        std::size_t successors = 0;
        for (std::size_t role = 0; role < folded_.roles.size(); ++role) {
            transfers += folded_.roles[role].transfer_count;
            for (std::uint32_t i = 0; i < folded_.roles[role].transfer_count; ++i) {
                const Transfer& transfer = from_.transfers[first_of_role_[role] + i];
                hops += transfer.hop_count;
                successors += transfer.successor_count;
            }
        }
        folded_.transfers.reserve(transfers);
        folded_.hops.reserve(hops);
        folded_.successors.reserve(successors);
    }

    /// [element][transfer]: its image, as `images` says of single mirrors.
    static std::vector<std::vector<std::uint32_t>> images_of_elements(
        std::size_t transfers, const ScheduleImages& images) {
        std::vector<std::vector<std::uint32_t>> all(std::size_t{1} << images.size());
        all[0].resize(transfers);
        std::iota(all[0].begin(), all[0].end(), 0U);
        for (std::size_t mirror = 0; mirror < images.size(); ++mirror) {
            const std::size_t with = std::size_t{1} << mirror;
            for (std::size_t element = 0; element < with; ++element) {
                std::vector<std::uint32_t>& image = all[with + element];
                image.reserve(transfers);
                for (const std::uint32_t transfer : all[element]) {
                    image.push_back(transfer == kNoImage ? kNoImage : images[mirror]->of[transfer]);
                }
            }
        }
        return all;
    }

    [[nodiscard]] const Role& role_at(std::uint32_t place) const {
        return from_.roles[from_.role_of_place[place]];
    }

    /// [role]: the shifts that its messages go by.
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

    /// [kept place]: its kind, numbered from 0; kAbsent for those that take no part. Places of a kind are told apart
    /// until all that their messages meet is of one kind and turned alike.
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
        Transfer transfer = from_.transfers[number];
        const std::uint32_t there =
            transfer.hop_count == 0 ? place : machine_.shifted(transfer.destination_shift, place);
        const auto first_hop = static_cast<std::uint32_t>(folded_.hops.size());
        for (std::uint32_t i = 0; i < transfer.hop_count; ++i) {
            Hop hop = from_.hops[transfer.first_hop + i];
            hop.port = orbits_.ports[orbits_.element[machine_.shifted(hop.shift, place)]][hop.port];
            folded_.hops.push_back(hop);
        }
        const auto first_successor = static_cast<std::uint32_t>(folded_.successors.size());
        const std::vector<std::uint32_t>& image = image_[orbits_.element[there]];
        const Role& at = role_at(orbits_.representative[there]);
        const Role& folded_at = folded_.roles[folded_.role_of_place[orbits_.number[there]]];
        for (std::uint32_t i = 0; i < transfer.successor_count; ++i) {
            const std::uint32_t next = image[from_.successors[transfer.first_successor + i]];
            folded_.successors.push_back(next - at.first_transfer + folded_at.first_transfer);
        }
        transfer.first_hop = first_hop;
        transfer.first_successor = first_successor;
        transfer.rank = ranks_[number];
        folded_.transfers.push_back(transfer);
    }

    const Schedule& from_;
    const Machine& machine_;
    const Orbits& orbits_;
    const std::vector<std::uint64_t>& ranks_;
    const std::vector<std::vector<std::uint32_t>> image_;  ///< [element][transfer]
    Schedule folded_;
    std::vector<std::uint32_t>
        first_of_role_;  ///< [role of folded_]: its transfers begin there in from_
};

}  // namespace

std::optional<Orbits> orbits_of(const Machine& machine, std::vector<const Mirror*> mirrors) {
    Orbits orbits;
    orbits.mirrors = std::move(mirrors);
    const std::uint32_t elements = 1U << orbits.mirrors.size();
    const auto image = [&](std::uint32_t element, std::uint32_t number,
                           std::vector<std::uint32_t> Mirror::*what) {
        for (std::size_t i = 0; i < orbits.mirrors.size(); ++i) {
            number = (element >> i & 1U) != 0 ? (orbits.mirrors[i]->*what)[number] : number;
        }
        return number;
    };
    for (std::uint32_t element = 0; element < elements; ++element) {
        std::vector<std::uint32_t>& ports = orbits.ports.emplace_back();
        for (std::uint32_t port = 0; port < machine.ports; ++port) {
            ports.push_back(image(element, port, &Mirror::port));
        }
    }
    orbits.number.resize(machine.places);
    for (std::uint32_t place = 0; place < machine.places; ++place) {
        std::uint32_t least = place;
        std::uint32_t by = 0;
        for (std::uint32_t element = 1; element < elements; ++element) {
            const std::uint32_t seen = image(element, place, &Mirror::place);
            if (seen == place) {
                return std::nullopt;
            }
            if (seen < least) {
                least = seen;
                by = element;
            }
        }
        orbits.element.push_back(by);
        orbits.representative.push_back(least);
        if (least == place) {
            orbits.number[place] = static_cast<std::uint32_t>(orbits.kept.size());
            orbits.kept.push_back(place);
        }
    }
    for (std::uint32_t place = 0; place < machine.places; ++place) {
        orbits.number[place] = orbits.number[orbits.representative[place]];
    }
    return orbits;
}

FoldedSchedule fold_schedule(const Schedule& schedule, const Machine& machine, const Orbits& orbits,
                             const ScheduleImages& images) {
    return Folding(schedule, machine, orbits, images).fold();
}

FoldedSchedule with_bytes_of(const FoldedSchedule& folded, const Schedule& schedule) {
    Schedule other = *folded.schedule;
    for (std::size_t role = 0; role < other.roles.size(); ++role) {
        for (std::uint32_t i = 0; i < other.roles[role].transfer_count; ++i) {
            const Transfer& from = schedule.transfers[folded.first_of_role[role] + i];
            Transfer& to = other.transfers[other.roles[role].first_transfer + i];
            to.bytes = from.bytes;
            to.bytes_before = from.bytes_before;
        }
    }
    return {std::make_shared<const Schedule>(std::move(other)), folded.first_of_role};
}

}  // namespace podsim::sim
