#include "tests/collectives/carriers/collective_support.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <sstream>
#include <utility>

#include "collectives/catalogue/build_schedule.h"
#include "collectives/catalogue/choose_algorithm.h"
#include "sim/base/error.h"
#include "tests/collectives/carriers/checks.h"
#include "tests/collectives/carriers/link_watch.h"

namespace podsim::collectives {
namespace {

/// Returns every (stride, length) that divides an axis of the given length.
std::vector<topology::AxisFactor> factors_of(int axis, int length) {
    std::vector<topology::AxisFactor> found;
    for (int stride = 1; stride < length; ++stride) {
        for (int members = 2; stride * members <= length; ++members) {
            if (length % (stride * members) == 0) {
                found.push_back({axis, stride, members});
            }
        }
    }
    return found;
}

}  // namespace

const std::vector<Operation>& gathering_operations() {
    static const std::vector<Operation> operations{Operation::all_gather, Operation::reduce_scatter,
                                                   Operation::all_reduce};
    return operations;
}

const std::vector<AlgorithmInfo>& gathering_algorithms() {
    static const std::vector<AlgorithmInfo> algorithms = [] {
        std::vector<AlgorithmInfo> list(all_algorithms().begin(), all_algorithms().end());
        std::erase_if(list, [](const AlgorithmInfo& info) {
            // An algorithm that carries out an AllGather carries out all three operations.
            if (info.algorithm == Algorithm::automatic) {
                return true;
            }
            try {
                const topology::Lattice ring = box({4, 1, 1}, 1);
                resolve({.operation = Operation::all_gather,
                         .slice = ring,
                         .members = {whole_axes(ring)},
                         .algorithm = info.algorithm});
                return false;
            } catch (const sim::InputError&) {
                return true;
            }
        });
        return list;
    }();
    return algorithms;
}

Case on_chip(const char* chip, const topology::Point& shape, Operation operation, unsigned axes,
             double v) {
    const topology::ChipSpec& spec = topology::find_chip(chip);
    Case c;
    c.operation = operation;
    c.slice = topology::make_slice(spec, shape, false);
    c.group = whole_axes(c.slice, axes);
    c.v = sim::Bytes(v);
    c.link = {.rate = spec.ici_one_way(topology::IciRates::book),
              .latency = spec.ici_latency.value};
    return c;
}

std::string describe(const Case& c) {
    std::ostringstream text;
    text << to_string(c.operation) << " " << to_string(c.algorithm) << " on ";
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        text << (axis == 0 ? "" : "x") << c.slice.length(axis) << (c.slice.wraps(axis) ? "w" : "");
    }
    text << (c.slice.twisted() ? " twisted over" : " over");
    for (const topology::AxisFactor& factor : c.group) {
        text << " " << topology::axis_name(factor.axis) << "/" << factor.stride << "%"
             << factor.length;
    }
    text << ", V " << c.v.value() << " B, cap " << c.options.message_cap.value() << " B, "
         << c.options.chunks << " to " << c.options.alike_chunks << " chunks, "
         << c.options.chunks_in_waves << " in waves of " << c.options.chunks_in_flight << ", "
         << c.options.hop_bytes.value() << " B a hop, rate " << c.link.rate.value()
         << " B/s, latency " << c.link.latency.value() << " s, "
         << (c.link.rule == sim::LatencyRule::additive ? "additive" : "floor") << ", from "
         << c.slice.index(c.ends.root) << " to " << c.slice.index(c.ends.to) << ", shift "
         << c.ends.shift;
    return text.str();
}

Outcome run_on(const topology::Lattice& places, const Case& c, const Attach& attach) {
    Outcome run;
    ShiftTable shifts(places);
    run.built = build_schedule(c.call(), c.options, shifts);
    run.workload.schedules.push_back(run.built.schedule);
    run.workload.operations.push_back({});
    sim::Task task;
    task.operation = 0;
    run.workload.graphs.emplace_back().tasks.push_back(task);

    sim::Machine& machine = run.workload.machine;
    machine.places = static_cast<std::size_t>(places.size());
    machine.ports = kIciPorts;
    machine.rule = c.link.rule;
    machine.links.assign(machine.places * machine.ports,
                         {.rate = c.link.rate, .latency = sim::round_up(c.link.latency)});
    machine.shifts = shifts.table();
    run.workload.graph_of_place.assign(machine.places, 0);

    sim::Observer* observer = attach ? attach(run.built, run.workload) : nullptr;
    LinkWatch watch(machine.links.size(), observer);
    run.result = sim::execute(run.workload, &watch);
    EXPECT_EQ(watch.overlaps(), 0) << describe(c);
    expect_kept(c, run);
    return run;
}

Algorithm picked(const Case& c) {
    return choose(c.call(), c.options, c.link, [&](Algorithm algorithm) {
        Case one = c;
        one.algorithm = algorithm;
        return run_on(folded_places(one.call()), one).result.end;
    });
}

topology::Lattice twisted(const topology::Point& lengths) {
    topology::Lattice slice = box(lengths, 7);
    const int k = lengths[0];
    if (lengths[1] == k) {
        slice.wrap_shift[0] = slice.wrap_shift[1] = topology::along(2, k);
    } else {
        slice.wrap_shift[0] = topology::along(1, k) + topology::along(2, k);
    }
    return slice;
}

Group whole_axes(const topology::Lattice& slice, unsigned axes) {
    Group group;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        if (slice.length(axis) > 1 && (axes >> axis & 1U) != 0) {
            group.push_back({axis, 1, slice.length(axis)});
        }
    }
    return group;
}

Group normalised(Group group) {
    std::erase_if(group, [](const topology::AxisFactor& factor) { return factor.length == 1; });
    std::ranges::sort(group, {}, [](const topology::AxisFactor& factor) {
        return std::pair(factor.axis, factor.stride);
    });
    Group merged;
    for (const topology::AxisFactor& factor : group) {
        if (!merged.empty() && merged.back().axis == factor.axis &&
            merged.back().stride * merged.back().length == factor.stride) {
            merged.back().length *= factor.length;
        } else {
            merged.push_back(factor);
        }
    }
    return merged;
}

topology::Lattice random_slice(Random& random, int longest, int most) {
    topology::Lattice slice;
    do {
        const int axes = random.between(1, topology::kAxes);
        for (std::size_t axis = 0; axis < topology::kAxes; ++axis) {
            slice.lengths[axis] = static_cast<int>(axis) < axes ? random.between(1, longest) : 1;
            slice.wrapped[axis] = random.coin();
        }
        std::swap(slice.lengths[0], slice.lengths[static_cast<std::size_t>(random.below(3))]);
    } while (slice.size() > most || slice.size() < 2);
    return slice;
}

Group random_group(Random& random, const topology::Lattice& slice) {
    Group group;
    while (group.empty()) {
        for (int axis = 0; axis < topology::kAxes; ++axis) {
            const std::vector<topology::AxisFactor> factors = factors_of(axis, slice.length(axis));
            if (factors.empty() || random.below(3) == 0) {
                continue;
            }
            if (random.coin()) {
                group.push_back({axis, 1, slice.length(axis)});
                continue;
            }
            group.push_back(random.pick(factors));
            // Half of the time a second factor of the same axis follows, beyond the first.
            const topology::AxisFactor& first = group.back();
            const int inner = first.stride * first.length;
            std::vector<topology::AxisFactor> more;
            std::ranges::copy_if(factors, std::back_inserter(more),
                                 [&](const auto& f) { return f.stride % inner == 0; });
            if (!more.empty() && random.coin()) {
                group.push_back(random.pick(more));
            }
        }
    }
    return normalised(std::move(group));
}

Case random_case(Random& random, int longest, int most) {
    constexpr std::array kRates{9e10, 4.5e10, 1e11, 1.3e9};
    constexpr std::array kLatencies{0.0, 1e-9, 1e-6, 1e-5, 1e-4};
    constexpr std::array kSizes{1.0, 257.0, 1e5, 1.2e6, 3e7, 1234567.0};
    Case c;
    c.slice = random_slice(random, longest, most);
    c.group = random_group(random, c.slice);
    c.operation = random.pick(gathering_operations());
    c.algorithm = random.pick(gathering_algorithms()).algorithm;
    c.v = sim::Bytes(random.pick(kSizes));
    // The cap allows one message a block, or a few.
    const double block = c.v.value() / group_size(c.group);
    c.options.message_cap = sim::Bytes(random.coin() ? c.v.value() : block / random.between(1, 4));
    c.options.chunks = random.between(1, 5);
    c.options.alike_chunks = random.between(1, 5);
    c.options.chunks_in_waves = random.between(1, 5);
    c.options.chunks_in_flight = random.between(1, 3);
    c.options.hop_bytes = random.coin() ? sim::Bytes{} : sim::Bytes(block / random.between(1, 6));
    c.link.rate = random.below(6) == 0 ? sim::BytesPerSecond::infinity()
                                       : sim::BytesPerSecond(random.pick(kRates));
    c.link.latency = sim::Seconds(random.pick(kLatencies));
    c.link.rule = random.coin() ? sim::LatencyRule::additive : sim::LatencyRule::floor;
    return c;
}

}  // namespace podsim::collectives
