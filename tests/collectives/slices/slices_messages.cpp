#include "tests/collectives/slices/slices_messages.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/collectives/carriers/brute_force_routes.h"

namespace podsim::collectives {

using topology::Point;

SlicesMessages::SlicesMessages(const SlicesCase& c)
    : c_(c),
      w_(c.within),
      whole_twisted_(w_.slice.twisted() && group_size(w_.group) == w_.slice.size()),
      one_way_(w_.algorithm == Algorithm::one_way) {
    if (w_.operation == Operation::all_to_all) {
        write_pairs();
    } else {
        write_parts();
    }
}

const topology::AxisFactor& SlicesMessages::factor(int f) const {
    return w_.group[static_cast<std::size_t>(f)];
}

bool SlicesMessages::ring(int f) const {
    return whole_twisted_ || is_plain_ring(w_.slice, factor(f));
}

int SlicesMessages::digit(const Point& chip, int f) const {
    return chip[static_cast<std::size_t>(factor(f).axis)] / factor(f).stride % factor(f).length;
}

Point SlicesMessages::walk(const Point& chip, int axis, int distance) const {
    return *walked(w_.slice, chip, axis, distance, true);
}

int SlicesMessages::other_slice(int slice, int ranks) const {
    const int rank = slice / c_.across.stride % c_.across.length;
    const int next = (rank + ranks) % c_.across.length;
    return slice + (next - rank) * c_.across.stride;
}

std::size_t SlicesMessages::link(Kind kind, Chip chip, int axis, int way) {
    if (kind == Kind::in || kind == Kind::out) {
        for (std::size_t a = 0; a < topology::kAxes; ++a) {
            chip.at[a] = chip.at[a] / c_.host_box[a] * c_.host_box[a];
        }
    }
    const auto [entry, added] = names_of_links_.try_emplace({kind, chip, axis, way}, links.size());
    if (added) {
        const Clock ici = static_cast<Clock>(std::ceil(w_.link.latency.value() * 1e12));
        links.push_back(kind == Kind::ici   ? SlowLink{0, w_.link.rate.value(), ici}
                        : kind == Kind::out ? SlowLink{0, c_.dcn.rate.value(), c_.dcn.latency.ps}
                        : kind == Kind::in  ? SlowLink{0, c_.dcn.rate.value(), 0}
                                           : SlowLink{0, c_.pcie.rate.value(), c_.pcie.latency.ps});
    }
    return entry->second;
}

std::vector<std::size_t> SlicesMessages::way_between(const Chip& from, const Chip& to) {
    return {link(Kind::to_host, from), link(Kind::out, from), link(Kind::in, to),
            link(Kind::to_chip, to)};
}

/// Chips of smaller hosts at the far end of an axis are numbered after those of whole hosts.
int SlicesMessages::index_in_host(const Point& chip) const {
    int index = 0;
    for (std::size_t a = 0; a < topology::kAxes; ++a) {
        const int box = c_.host_box[a];
        const bool smaller = chip[a] / box * box + box > w_.slice.lengths[a];
        index = index * 2 * box + chip[a] % box + (smaller ? box : 0);
    }
    return index;
}

std::vector<int> SlicesMessages::lengths_of(const std::vector<int>& order) const {
    std::vector<int> lengths;
    std::set<Point> held{Point{}};
    for (const int f : order) {
        if (!whole_twisted_) {
            lengths.push_back(factor(f).length);
            continue;
        }
        const std::set<Point> before = held;
        int length = 0;
        do {
            ++length;
            for (const Point& home : before) {
                held.insert(walk(home, factor(f).axis, length));
            }
        } while (!before.contains(walk(Point{}, factor(f).axis, length)));
        lengths.push_back(length);
    }
    return lengths;
}

void SlicesMessages::write_parts() {
    const bool flat = w_.algorithm == Algorithm::flat;
    std::vector<Part> parts{Part{}};
    if (!w_.group.empty()) {
        const Algorithm default_one =
            w_.group.size() > 1 ? Algorithm::weighted : Algorithm::two_way;
        const bool by_default = flat || w_.algorithm == Algorithm::automatic;
        parts = divide(w_.slice, w_.group, by_default ? default_one : w_.algorithm);
    }
    const int chunks = w_.group.empty() ? 1 : w_.options.chunks_between_slices;
    for (int part = 0; part < static_cast<int>(parts.size()); ++part) {
        const Part& p = parts[static_cast<std::size_t>(part)];
        std::vector<int> order = p.order;
        std::vector<int> lengths = lengths_of(p.order);
        order.insert(flat ? order.end() : order.begin(), -1);
        lengths.insert(flat ? lengths.end() : lengths.begin(), c_.across.length);
        const int stages = static_cast<int>(order.size());
        double block = w_.v.value() * (p.weight / group_size(w_.group) / c_.across.length / chunks);
        for (int stage = 0; stage < stages; ++stage) {
            const int f = order[static_cast<std::size_t>(stage)];
            const int n = lengths[static_cast<std::size_t>(stage)];
            for (int chunk = 0; chunk < chunks; ++chunk) {
                if (w_.operation != Operation::all_gather) {
                    write_phase({part, chunk, stages - 1 - stage, f, n, block, true});
                }
                if (w_.operation != Operation::reduce_scatter) {
                    const int before = w_.operation == Operation::all_reduce ? stages : 0;
                    write_phase({part, chunk, before + stage, f, n, block, false});
                }
            }
            block = block * n;
        }
    }
}

void SlicesMessages::write_phase(const PhaseSpec& p) {
    for (int slice = 0; slice < c_.slices; ++slice) {
        for (int i = 0; i < w_.slice.size(); ++i) {
            const Chip chip{slice, w_.slice.point(i)};
            if (p.factor < 0) {
                for (int ranks = 1; ranks < p.n; ++ranks) {
                    write_block(p, chip, 1, ranks);
                }
                continue;
            }
            const int at = digit(chip.at, p.factor);
            for (const int direction : {1, -1}) {
                const int behind = direction > 0 ? at : p.n - 1 - at;
                const int ahead = p.n - 1 - behind;
                for (int distance = 1; distance < p.n; ++distance) {
                    const bool in_reach =
                        !ring(p.factor)
                            ? p.reduce ? distance <= ahead : ahead > 0 && distance <= behind + 1
                        : one_way_ ? direction > 0
                                   : 2 * distance <= p.n;
                    if (in_reach) {
                        write_block(p, chip, direction, distance);
                    }
                }
            }
        }
    }
}

void SlicesMessages::write_block(const PhaseSpec& p, const Chip& chip, int direction,
                                 int distance) {
    const bool between = p.factor < 0;
    const bool half = !between && ring(p.factor) && !one_way_ && 2 * distance == p.n;
    const int pieces = static_cast<int>(message_count(sim::Bytes(p.block), w_.options.message_cap));
    const int first = half && direction < 0 ? pieces / 2 : 0;
    const int last = half && direction > 0 ? (pieces + 1) / 2 : pieces;
    Chip to = chip;
    std::vector<std::size_t> route;
    if (between) {
        to.slice = other_slice(chip.slice, distance);
        route = way_between(chip, to);
    } else {
        const topology::AxisFactor& f = factor(p.factor);
        for (int hop = 0; hop < f.stride; ++hop) {
            const Chip at{chip.slice, walk(chip.at, f.axis, direction * hop)};
            route.push_back(link(Kind::ici, at, f.axis, direction));
        }
        to.at = walk(chip.at, f.axis, direction * f.stride);
    }
    for (int piece = first; piece < last; ++piece) {
        SlowMessage m;
        m.links = route;
        m.bytes = half && pieces == 1 ? p.block * 0.5 : p.block * (1.0 / pieces);
        const int sent_before = direction > 0 ? piece - first : last - 1 - piece;
        m.bytes_before = p.block * (static_cast<double>(sent_before) / pieces);
        m.wave = p.chunk / w_.options.chunks_in_flight;
        m.part = p.part;
        m.phase = p.phase;
        m.step = p.reduce ? -distance : distance;
        m.chunk = p.chunk;
        m.backward = direction < 0 ? 1 : 0;
        m.turn = direction > 0 ? piece : pieces - 1 - piece;
        m.index_in_host = index_in_host(chip.at);
        if (!between) {
            const topology::AxisFactor& f = factor(p.factor);
            const Chip behind{chip.slice, walk(chip.at, f.axis, -direction * f.stride)};
            m.follows = MessageName{behind,  p.part,    p.chunk,
                                    p.phase, direction, p.reduce ? distance + 1 : distance - 1,
                                    piece};
        }
        if (p.phase > 0 && (between || p.reduce || distance == 1)) {
            m.begins = PhaseAt{chip, p.part, p.chunk, p.phase - 1};
        }
        m.closes_phase = between || !p.reduce || distance == 1;
        arriving[{to, p.part, p.chunk, p.phase}].push_back(messages.size());
        names.emplace(MessageName{chip, p.part, p.chunk, p.phase, direction, distance, piece},
                      messages.size());
        messages.push_back(m);
    }
}

void SlicesMessages::write_pairs() {
    const double n = c_.members().size();
    const double bytes = w_.v.value() / n / n;
    for (int slice = 0; slice < c_.slices; ++slice) {
        for (const Pair& pair : pairs_of(w_.slice, w_.group, one_way_)) {
            for (std::size_t r = 0; r < pair.walks.size(); ++r) {
                std::vector<std::size_t> route;
                for (const Crossing& crossing : pair.walks[r].crossings) {
                    route.push_back(
                        link(Kind::ici, {slice, crossing.chip}, crossing.axis, crossing.direction));
                }
                write_route({slice, pair.from}, route, bytes * pair.walks[r].share, pair.number,
                            static_cast<int>(r));
            }
        }
    }
    write_pairs_between_slices(bytes);
}

void SlicesMessages::write_pairs_between_slices(double bytes) {
    std::map<std::pair<int, Point>, int> numbers;
    for (const bool write : {false, true}) {
        for (int slice = 0; slice < (write ? c_.slices : 1); ++slice) {
            for (const Point& chip : write ? all_chips() : first_chips()) {
                for (int ranks = 1; ranks < c_.across.length; ++ranks) {
                    for (const auto& [displacement, end] : ends_of(chip)) {
                        const int number =
                            numbers.try_emplace({ranks, displacement}, numbers.size())
                                .first->second;
                        if (write) {
                            const Chip from{slice, chip};
                            write_route(from, way_between(from, {other_slice(slice, ranks), end}),
                                        bytes, number, 0);
                        }
                    }
                }
            }
        }
    }
}

void SlicesMessages::write_route(const Chip& from, const std::vector<std::size_t>& route,
                                 double bytes, int number, int index) {
    const int count =
        std::max(1, static_cast<int>(std::ceil(bytes / w_.options.message_cap.value())));
    for (int i = 0; i < count; ++i) {
        SlowMessage m;
        m.links = route;
        m.bytes = bytes / count;
        m.bytes_before = m.bytes * i;
        m.far_first = true;
        m.part = number;
        m.step = index;
        m.chunk = i;
        m.index_in_host = index_in_host(from.at);
        messages.push_back(m);
    }
}

std::vector<Point> SlicesMessages::all_chips() const {
    std::vector<Point> chips;
    for (int i = 0; i < w_.slice.size(); ++i) {
        chips.push_back(w_.slice.point(i));
    }
    return chips;
}

/// Returns the members of the origin's group that stand
/// first on every ring, the first factor fastest.
std::vector<Point> SlicesMessages::first_chips() const {
    std::vector<Point> chips{Point{}};
    for (int f = 0; f < static_cast<int>(w_.group.size()); ++f) {
        std::vector<Point> more;
        for (int d = 0; d < (ring(f) ? 1 : factor(f).length); ++d) {
            for (const Point& chip : chips) {
                more.push_back(chip + topology::along(factor(f).axis, d * factor(f).stride));
            }
        }
        chips = std::move(more);
    }
    return chips;
}

/// Returns all members of a chip's group with their displacements,
/// the chip itself first, the first factor fastest.
std::vector<std::pair<Point, Point>> SlicesMessages::ends_of(const Point& chip) const {
    std::vector<std::pair<Point, Point>> ends{{Point{}, chip}};
    for (int f = 0; f < static_cast<int>(w_.group.size()); ++f) {
        const topology::AxisFactor& spec = factor(f);
        std::vector<std::pair<Point, Point>> more;
        for (int d = 0; d < spec.length; ++d) {
            const int steps = ring(f) ? d : d - digit(chip, f);
            for (const auto& [displacement, end] : ends) {
                more.emplace_back(displacement + topology::along(spec.axis, steps * spec.stride),
                                  walk(end, spec.axis, steps * spec.stride));
            }
        }
        ends = std::move(more);
    }
    std::ranges::stable_partition(ends, [](const auto& e) { return e.first == Point{}; });
    return ends;
}

}  // namespace podsim::collectives
