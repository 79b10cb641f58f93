#include "sim/folding/images.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

namespace podsim::sim {
namespace {

std::span<const std::uint32_t> row(const Machine& machine, std::size_t shift) {
    return std::span(machine.shifts).subspan(shift * machine.places, machine.places);
}

std::size_t shifts_of(const Machine& machine) {
    return machine.shifts.size() / machine.places;
}

/// Compares rows of the table of shifts by their content.
struct ByRow {
    const Machine* machine;
    using is_transparent = void;
    bool operator()(std::uint32_t a, std::uint32_t b) const {
        return std::ranges::lexicographical_compare(row(*machine, a), row(*machine, b));
    }
};

/// Reads a schedule's transfers directly or through a mirror.
class TransferView {
public:
    TransferView(const Schedule& schedule, const std::vector<std::uint32_t>& shifts,
                 const std::vector<std::uint32_t>& ports)
        : schedule_(schedule), shifts_(shifts), ports_(ports) {}

    [[nodiscard]] std::uint32_t shift(std::uint32_t number) const { return shifts_[number]; }
    [[nodiscard]] std::uint32_t port(std::uint32_t number) const { return ports_[number]; }
    [[nodiscard]] std::span<const Hop> hops(const Transfer& transfer) const {
        return std::span(schedule_.hops).subspan(transfer.first_hop, transfer.hop_count);
    }

private:
    const Schedule& schedule_;
    const std::vector<std::uint32_t>& shifts_;
    const std::vector<std::uint32_t>& ports_;
};

/// True if a transfer seen in the mirror does what another does.
bool does(const Transfer& one, const TransferView& mirrored, const Transfer& other,
          const TransferView& plain) {
    if (one.phase != other.phase || one.phase_per_hop != other.phase_per_hop ||
        one.needs != other.needs || one.reads != other.reads || one.writes != other.writes ||
        one.copies != other.copies || one.bytes != other.bytes ||
        one.bytes_before != other.bytes_before || one.hop_count != other.hop_count ||
        one.successor_count != other.successor_count) {
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

/// Returns [role]: its image; nullopt if a role has several.
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

std::span<const std::uint32_t> successors(const Schedule& schedule, const Transfer& transfer) {
    return std::span(schedule.successors)
        .subspan(transfer.first_successor, transfer.successor_count);
}

/// Pairs transfers with their images. Transfers of one role, phase and first link meet there, and
/// their images meet at its image in the same order, so the first is the image of the first. The
/// image of a join follows the image of its predecessor. Joins that only follow joins, and several
/// joins after one transfer, are paired in their order.
class Pairing {
public:
    Pairing(const Schedule& schedule, const ScheduleFacts& facts, const TransferView& plain,
            const TransferView& mirrored)
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
        for (std::size_t phase = 0; phase < facts_.phases; ++phase) {
            for (std::uint32_t port = 0; port < facts_.ports; ++port) {
                const std::uint32_t seen = mirrored_.port(port);
                // The reverse pairs are set together with these.
                if (std::pair(role, port) <= std::pair(image, seen) &&
                    !pair(facts_.begin_at(role, phase, port),
                          facts_.begin_at(image, phase, seen))) {
                    return false;
                }
            }
        }
        return true;
    }

    /// Precondition: all transfers that cross links have been paired.
    bool pair_joins(std::uint32_t role, std::uint32_t image) {
        for (std::size_t phase = 0; phase < facts_.phases; ++phase) {
            const auto joins = facts_.joins_of(role, phase);
            for (const std::uint32_t join : joins) {
                const std::uint32_t before = facts_.led_to_by[join];
                if (before != ScheduleFacts::kNobody &&
                    (image_[before] == kNoImage || !pair_behind(before, join))) {
                    return false;
                }
            }
            if (role <= image && !pair(apart(joins), apart(facts_.joins_of(image, phase)))) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] std::vector<std::uint32_t> take() { return std::move(image_); }

private:
    bool pair(std::span<const std::uint32_t> ones, std::span<const std::uint32_t> images) {
        if (ones.size() != images.size()) {
            return false;
        }
        for (std::size_t i = 0; i < ones.size(); ++i) {
            if (!does(schedule_.transfers[ones[i]], mirrored_, schedule_.transfers[images[i]],
                      plain_)) {
                return false;
            }
            image_[ones[i]] = images[i];
            image_[images[i]] = ones[i];
        }
        return true;
    }

    /// Pairs a join behind a transfer with the join behind its image.
    bool pair_behind(std::uint32_t transfer, std::uint32_t join) {
        const std::vector<std::uint32_t> here = joins_behind(transfer);
        const std::vector<std::uint32_t> there = joins_behind(image_[transfer]);
        if (here.size() != there.size()) {
            return false;
        }
        const std::uint32_t seen =
            there[static_cast<std::size_t>(std::ranges::find(here, join) - here.begin())];
        image_[join] = seen;
        return does(schedule_.transfers[join], mirrored_, schedule_.transfers[seen], plain_);
    }

    [[nodiscard]] std::vector<std::uint32_t> joins_behind(std::uint32_t transfer) const {
        std::vector<std::uint32_t> joins;
        std::ranges::copy_if(
            successors(schedule_, schedule_.transfers[transfer]), std::back_inserter(joins),
            [&](std::uint32_t next) { return schedule_.transfers[next].hop_count == 0; });
        std::ranges::sort(joins, {}, [&](std::uint32_t join) {
            const Transfer& spec = schedule_.transfers[join];
            return std::tuple(spec.phase, spec.needs, spec.successor_count, spec.rank, join);
        });
        return joins;
    }

    /// Returns the joins to which no transfer over links leads.
    [[nodiscard]] std::vector<std::uint32_t> apart(std::span<const std::uint32_t> joins) const {
        std::vector<std::uint32_t> some;
        std::ranges::copy_if(joins, std::back_inserter(some), [&](std::uint32_t join) {
            return facts_.led_to_by[join] == ScheduleFacts::kNobody;
        });
        return some;
    }

    const Schedule& schedule_;
    const ScheduleFacts& facts_;
    const TransferView& plain_;
    const TransferView& mirrored_;
    std::vector<std::uint32_t> image_;
};

/// Compares rows of numbers below a limit as multisets.
class SameElements {
public:
    explicit SameElements(std::size_t limit) : surplus_(limit) {}

    bool operator()(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
        for (const std::uint32_t element : a) {
            ++surplus_[element];
        }
        bool same = a.size() == b.size();
        for (const std::uint32_t element : b) {
            same = --surplus_[element] >= 0 && same;
        }
        for (const std::uint32_t element : a) {
            surplus_[element] = 0;
        }
        for (const std::uint32_t element : b) {
            surplus_[element] = 0;
        }
        return same;
    }

private:
    /// [element]: its count in the first row less that in the second.
    std::vector<std::int32_t> surplus_;
};

/// True if the successors of each image are the images of the successors, and the mapping is an
/// involution.
bool follows(const Schedule& schedule, const std::vector<std::uint32_t>& image) {
    SameElements same(image.size());
    std::vector<std::uint32_t> expected;
    for (std::size_t i = 0; i < image.size(); ++i) {
        if (image[i] == kNoImage) {
            continue;
        }
        if (image[image[i]] != i) {
            return false;
        }
        if (image[i] < i) {
            continue;  // its image has been checked
        }
        const auto after = successors(schedule, schedule.transfers[i]);
        const auto after_image = successors(schedule, schedule.transfers[image[i]]);
        if (after.size() == 1) {  // the usual case
            if (image[after[0]] != after_image[0]) {
                return false;
            }
            continue;
        }
        expected.clear();
        for (const std::uint32_t successor : after) {
            expected.push_back(image[successor]);
        }
        if (std::ranges::find(expected, kNoImage) != expected.end() ||
            !same(expected, after_image)) {
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

bool moves_places(const Mirror& mirror) {
    for (std::size_t place = 0; place < mirror.place.size(); ++place) {
        if (mirror.place[place] != place) {
            return true;
        }
    }
    return false;
}

std::optional<std::vector<std::uint32_t>> images_of_transfers(const Schedule& schedule,
                                                              const ScheduleFacts& facts,
                                                              const AlikeShifts& alike,
                                                              const MirroredMachine& mirrored) {
    const auto roles = images_of_roles(schedule, *mirrored.mirror);
    if (!roles) {
        return std::nullopt;
    }
    std::vector<std::uint32_t> ports(facts.ports);
    std::iota(ports.begin(), ports.end(), 0U);
    const TransferView plain(schedule, alike.first, ports);
    const TransferView seen(schedule, mirrored.shift, mirrored.mirror->port);
    Pairing pairing(schedule, facts, plain, seen);
    for (std::uint32_t role = 0; role < roles->size(); ++role) {
        if ((*roles)[role] != kNoImage && !pairing.pair(role, (*roles)[role])) {
            return std::nullopt;
        }
    }
    for (std::uint32_t role = 0; role < roles->size(); ++role) {
        if ((*roles)[role] != kNoImage && !pairing.pair_joins(role, (*roles)[role])) {
            return std::nullopt;
        }
    }
    std::vector<std::uint32_t> image = pairing.take();
    return follows(schedule, image) ? std::optional(std::move(image)) : std::nullopt;
}

}  // namespace podsim::sim
