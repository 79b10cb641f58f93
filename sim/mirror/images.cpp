#include "sim/mirror/images.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <ranges>
#include <span>
#include <utility>

namespace podsim::sim {
namespace {

std::span<const std::uint32_t> row(const Machine& machine, std::size_t shift) {
    return std::span(machine.shifts).subspan(shift * machine.places, machine.places);
}

std::size_t shifts_of(const Machine& machine) {
    return machine.shifts.size() / machine.places;
}

/// Rows of the table of shifts, by what they hold.
struct ByRow {
    const Machine* machine;
    using is_transparent = void;
    bool operator()(std::uint32_t a, std::uint32_t b) const {
        return std::ranges::lexicographical_compare(row(*machine, a), row(*machine, b));
    }
};

/// What a transfer does, in numbers that are equal for a transfer and its image: a hash to sort by.
class Hash {
public:
    void add(std::uint64_t value) {
        value_ = (value_ ^ value) * 0x9e3779b97f4a7c15ULL;
        value_ ^= value_ >> 29;
    }
    void add(Bytes bytes) { add(std::bit_cast<std::uint64_t>(bytes.value())); }
    [[nodiscard]] std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 0;
};

/// Reads a schedule's transfers as they are, or as a mirror shows them.
class View {
public:
    View(const Schedule& schedule, const AlikeShifts& alike, const MirroredMachine* mirrored)
        : schedule_(schedule), alike_(alike), mirrored_(mirrored) {}

    [[nodiscard]] std::uint32_t shift(std::uint32_t number) const {
        return mirrored_ != nullptr ? mirrored_->shift[number] : alike_.first[number];
    }
    [[nodiscard]] std::uint32_t port(std::uint32_t number) const {
        return mirrored_ != nullptr ? mirrored_->mirror->port[number] : number;
    }
    [[nodiscard]] std::span<const Hop> hops(const Transfer& transfer) const {
        return std::span(schedule_.hops).subspan(transfer.first_hop, transfer.hop_count);
    }
    /// Whether all that it names has an image.
    [[nodiscard]] bool complete(const Transfer& transfer) const {
        return transfer.hop_count == 0 ||
               (shift(transfer.destination_shift) != kNoImage &&
                std::ranges::none_of(hops(transfer),
                                     [&](const Hop& hop) { return shift(hop.shift) == kNoImage; }));
    }
    [[nodiscard]] std::uint64_t hash(const Transfer& transfer) const {
        Hash hash;
        hash.add(transfer.phase | std::uint64_t{transfer.needs} << 32);
        hash.add(transfer.successor_count | std::uint64_t{transfer.phase_per_hop} << 32);
        hash.add(transfer.bytes);
        hash.add(transfer.bytes_before);
        hash.add(transfer.reads | std::uint64_t{transfer.writes} << 8);
        if (transfer.hop_count > 0) {
            hash.add(shift(transfer.destination_shift));
        }
        for (const Hop& hop : hops(transfer)) {
            hash.add(shift(hop.shift) | std::uint64_t{port(hop.port)} << 32);
        }
        return hash.value();
    }

private:
    const Schedule& schedule_;
    const AlikeShifts& alike_;
    const MirroredMachine* mirrored_;
};

/// Whether a transfer seen in the mirror does what another does.
bool does(const Transfer& one, const View& mirrored, const Transfer& other, const View& plain) {
    if (one.phase != other.phase || one.phase_per_hop != other.phase_per_hop ||
        one.needs != other.needs || one.reads != other.reads || one.writes != other.writes ||
        one.bytes != other.bytes || one.bytes_before != other.bytes_before ||
        one.hop_count != other.hop_count || one.successor_count != other.successor_count) {
        return false;
    }
    if (one.hop_count == 0) {
        return true;
    }
    return mirrored.shift(one.destination_shift) == plain.shift(other.destination_shift) &&
           std::ranges::equal(mirrored.hops(one), plain.hops(other),
                              [&](const Hop& seen, const Hop& hop) {
                                  return mirrored.shift(seen.shift) == plain.shift(hop.shift) &&
                                         mirrored.port(seen.port) == plain.port(hop.port);
                              });
}

/// [role]: its image.
std::optional<std::vector<std::uint32_t>> images_of_roles(const Schedule& schedule,
                                                          const Mirror& mirror) {
    std::vector<std::uint32_t> image(schedule.roles.size(), kNoImage);
    for (std::size_t place = 0; place < schedule.role_of_place.size(); ++place) {
        const std::uint32_t role = schedule.role_of_place[place];
        const std::uint32_t seen = schedule.role_of_place[mirror.place[place]];
        if ((role == kAbsent) != (seen == kAbsent)) {
            return std::nullopt;
        }
        if (role == kAbsent) {
            continue;
        }
        if (image[role] != kNoImage && image[role] != seen) {
            return std::nullopt;
        }
        image[role] = seen;
    }
    return image;
}

/// The role's transfers by what the view shows of them, in order, and their kinds.
void add_kinds(const Schedule& schedule, const Role& role, const View& plain,
               ScheduleFacts& facts) {
    auto& doings = facts.doings;
    auto& kinds = facts.kinds;
    const std::size_t first = doings.size();
    for (std::uint32_t i = 0; i < role.transfer_count; ++i) {
        const std::uint32_t transfer = role.first_transfer + i;
        const Transfer& spec = schedule.transfers[transfer];
        doings.push_back({plain.hash(spec), spec.rank, transfer});
    }
    std::sort(doings.begin() + static_cast<std::ptrdiff_t>(first), doings.end(),
              [](const ScheduleFacts::Doing& a, const ScheduleFacts::Doing& b) {
                  return a.hash != b.hash   ? a.hash < b.hash
                         : a.rank != b.rank ? a.rank < b.rank
                                            : a.transfer < b.transfer;
              });
    for (std::size_t i = first; i < doings.size(); ++i) {
        if (i == first || doings[i].hash != doings[i - 1].hash) {
            kinds.push_back({doings[i].hash, static_cast<std::uint32_t>(i), 0});
        } else if (!does(schedule.transfers[doings[i - 1].transfer], plain,
                         schedule.transfers[doings[i].transfer], plain)) {
            facts.kinds_differ_in_hash = false;
        }
        ++kinds.back().count;
    }
}

/// Pairs of transfers and images: those that do the same, in the order of their ranks and numbers.
class Pairing {
public:
    Pairing(const Schedule& schedule, const ScheduleFacts& facts, const View& plain,
            const View& mirrored)
        : schedule_(schedule),
          facts_(facts),
          plain_(plain),
          mirrored_(mirrored),
          image_(schedule.transfers.size(), kNoImage) {}

    bool pair(std::uint32_t role, std::uint32_t image) {
        if (schedule_.roles[role].transfer_count != schedule_.roles[image].transfer_count ||
            schedule_.roles[role].arrivals != schedule_.roles[image].arrivals) {
            return false;
        }
        const std::span<const ScheduleFacts::Kind> to = facts_.kinds_of(image);
        return std::ranges::all_of(facts_.kinds_of(role), [&](const ScheduleFacts::Kind& kind) {
            const Transfer& one = transfer(kind);
            if (!mirrored_.complete(one)) {
                return false;
            }
            const auto seen =
                std::ranges::lower_bound(to, mirrored_.hash(one), {}, &ScheduleFacts::Kind::hash);
            if (seen == to.end() || seen->count != kind.count ||
                !does(one, mirrored_, transfer(*seen), plain_)) {
                return false;
            }
            for (std::uint32_t i = 0; i < kind.count; ++i) {
                image_[facts_.doings[kind.first + i].transfer] =
                    facts_.doings[seen->first + i].transfer;
            }
            return true;
        });
    }

    [[nodiscard]] std::vector<std::uint32_t> take() { return std::move(image_); }

private:
    [[nodiscard]] const Transfer& transfer(const ScheduleFacts::Kind& kind) const {
        return schedule_.transfers[facts_.doings[kind.first].transfer];
    }

    const Schedule& schedule_;
    const ScheduleFacts& facts_;
    const View& plain_;
    const View& mirrored_;
    std::vector<std::uint32_t> image_;
};

std::span<const std::uint32_t> successors(const Schedule& schedule, const Transfer& transfer) {
    return std::span(schedule.successors)
        .subspan(transfer.first_successor, transfer.successor_count);
}

/// Whether what follows a transfer's image is the image of what follows it, and images are each other's.
bool follows(const Schedule& schedule, const std::vector<std::uint32_t>& image) {
    std::vector<std::uint32_t> expected;
    std::vector<std::uint32_t> found;
    for (std::size_t i = 0; i < image.size(); ++i) {
        if (image[i] == kNoImage) {
            continue;
        }
        if (image[image[i]] != i) {
            return false;
        }
        const auto after = successors(schedule, schedule.transfers[i]);
        const auto after_image = successors(schedule, schedule.transfers[image[i]]);
        if (after.size() == 1) {  // most have one
            if (image[after[0]] != after_image[0]) {
                return false;
            }
            continue;
        }
        expected.assign(after.begin(), after.end());
        for (std::uint32_t& successor : expected) {
            successor = image[successor];
        }
        found.assign(after_image.begin(), after_image.end());
        std::ranges::sort(expected);
        std::ranges::sort(found);
        if (expected != found) {
            return false;
        }
    }
    return true;
}

}  // namespace

AlikeShifts::AlikeShifts(const Machine& machine) {
    std::map<std::uint32_t, std::uint32_t, ByRow> rows(ByRow{&machine});
    for (std::uint32_t shift = 0; shift < shifts_of(machine); ++shift) {
        first.push_back(rows.try_emplace(shift, shift).first->second);
    }
}

std::vector<std::uint32_t> images_of_shifts(const Machine& machine, const AlikeShifts& alike,
                                            const Mirror& mirror) {
    std::map<std::vector<std::uint32_t>, std::uint32_t> rows;
    for (std::uint32_t shift = 0; shift < shifts_of(machine); ++shift) {
        const auto there = row(machine, shift);
        rows.try_emplace({there.begin(), there.end()}, shift);
    }
    std::vector<std::uint32_t> images;
    std::vector<std::uint32_t> image(machine.places);
    for (std::uint32_t shift = 0; shift < shifts_of(machine); ++shift) {
        if (alike.first[shift] != shift) {
            images.push_back(images[alike.first[shift]]);
            continue;
        }
        for (std::size_t place = 0; place < machine.places; ++place) {
            const std::uint32_t there = machine.shifted(shift, place);
            image[mirror.place[place]] = there == kNoPlace ? kNoPlace : mirror.place[there];
        }
        const auto found = rows.find(image);
        images.push_back(found == rows.end() ? kNoImage : found->second);
    }
    return images;
}

ScheduleFacts::ScheduleFacts(const Schedule& schedule, const AlikeShifts& alike) {
    const View plain(schedule, alike, nullptr);
    doings.reserve(schedule.transfers.size());
    for (const Role& role : schedule.roles) {
        first_kind.push_back(kinds.size());
        add_kinds(schedule, role, plain, *this);
    }
    first_kind.push_back(kinds.size());
    std::vector<std::pair<std::uint64_t, std::uint32_t>> ranks;
    ranks.reserve(schedule.transfers.size());
    for (const Transfer& transfer : schedule.transfers) {
        ranks.emplace_back(transfer.rank, static_cast<std::uint32_t>(ranks.size()));
    }
    std::ranges::sort(ranks);
    by_rank.reserve(ranks.size());
    for (const auto& [rank, transfer] : ranks) {
        by_rank.push_back(transfer);
    }
    for (const Transfer& transfer : schedule.transfers) {
        if (transfer.hop_count > 0) {
            const std::uint32_t last =
                transfer.phase + (transfer.hop_count - 1) * transfer.phase_per_hop;
            phases = std::max(phases, std::size_t{last} + 1);
        }
    }
}

std::optional<std::vector<std::uint32_t>> images_of_transfers(const Schedule& schedule,
                                                              const ScheduleFacts& facts,
                                                              const AlikeShifts& alike,
                                                              const MirroredMachine& mirrored) {
    const auto roles = images_of_roles(schedule, *mirrored.mirror);
    if (!roles || !facts.kinds_differ_in_hash) {
        return std::nullopt;
    }
    const View plain(schedule, alike, nullptr);
    const View seen(schedule, alike, &mirrored);
    Pairing pairing(schedule, facts, plain, seen);
    for (std::uint32_t role = 0; role < roles->size(); ++role) {
        if ((*roles)[role] != kNoImage && !pairing.pair(role, (*roles)[role])) {
            return std::nullopt;
        }
    }
    std::vector<std::uint32_t> image = pairing.take();
    return follows(schedule, image) ? std::optional(std::move(image)) : std::nullopt;
}

}  // namespace podsim::sim
