#include "workloads/analytic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "collectives/bounds.h"

namespace podsim::workloads {
namespace {

double volume(const MatmulShape& shape) {
    return shape.m * shape.k * shape.n * shape.count;
}

double padded(double dimension, int mxu) {
    return std::ceil(dimension / mxu) * mxu;
}

double padded_volume(const MatmulShape& shape, int mxu) {
    // Rows stream through the array: they only have to fill it once.
    return std::max(shape.m, static_cast<double>(mxu)) * padded(shape.k, mxu) *
           padded(shape.n, mxu) * shape.count;
}

std::string axes_name(unsigned mask) {
    std::string name = "ici ";
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        if ((mask >> axis & 1U) != 0) {
            name += name.back() == ' ' ? "" : "+";
            name += "xyz"[axis];
        }
    }
    return name;
}

sim::Seconds at_rate(sim::Bytes bytes, double links, sim::BytesPerSecond link) {
    return bytes.value() == 0 ? sim::Seconds(0) : bytes / (link * links);
}

constexpr unsigned kMasks = 1U << topology::kAxes;

/// Least traffic of all collectives that use exactly the axes of each mask.
using TrafficByAxes = std::array<collectives::LeastTraffic, kMasks>;

TrafficByAxes traffic_by_axes(const StepProgram& program, const topology::DeviceMesh& mesh) {
    TrafficByAxes sums{};
    for (const Op& op : program.ops) {
        const auto* collective = std::get_if<Collective>(&op.work);
        if (collective == nullptr) {
            continue;
        }
        if (mesh.across(collective->axes).length > 1) {
            continue;
        }
        const collectives::Group group = mesh.group(collective->axes);
        const auto least = collectives::least_traffic(
            collective->operation, collectives::group_size(group), collective->bytes);
        collectives::LeastTraffic& sum = sums[collectives::axes_mask(group)];
        sum.receive += least.receive;
        sum.send += least.send;
        sum.mean += least.mean;
    }
    return sums;
}

/// Least traffic of a slice with the others, all of its groups together.
collectives::LeastTraffic traffic_between_slices(const StepProgram& program,
                                                 const topology::Lattice& slice,
                                                 const topology::DeviceMesh& mesh) {
    collectives::LeastTraffic sum{};
    for (const Op& op : program.ops) {
        const auto* collective = std::get_if<Collective>(&op.work);
        if (collective == nullptr) {
            continue;
        }
        const double groups = static_cast<double>(slice.size()) /
                              collectives::group_size(mesh.group(collective->axes));
        const auto least = collectives::least_traffic(
            collective->operation, mesh.across(collective->axes).length, collective->bytes);
        sum.receive += least.receive * groups;
        sum.send += least.send * groups;
        sum.mean += least.mean * groups;
    }
    return sum;
}

void raise(LowerBound& lower, sim::Seconds time, unsigned classes) {
    if (time > lower.links) {
        lower.links = time;
        lower.link_classes = classes;
    }
}

}  // namespace

ComputeTime compute_time(const Compute& work, const MachineRates& rates) {
    double plain = 0;
    double with_padding = 0;
    for (const MatmulShape& shape : work.matmuls) {
        plain += volume(shape);
        with_padding += padded_volume(shape, rates.mxu_dimension);
    }
    ComputeTime time;
    time.mxu = work.flops / rates.flops;
    time.mxu_padded = plain > 0 ? time.mxu * (with_padding / plain) : time.mxu;
    time.hbm = work.hbm / rates.hbm;
    return time;
}

LowerBound roofline_lower(const StepProgram& program, const topology::Lattice& slice,
                          const topology::DeviceMesh& mesh, const MachineRates& rates) {
    LowerBound lower;
    for (const Op& op : program.ops) {
        if (const auto* work = std::get_if<Compute>(&op.work)) {
            lower.compute += work->flops / rates.flops;
            lower.hbm += work->hbm / rates.hbm;
        }
    }
    const TrafficByAxes traffic = traffic_by_axes(program, mesh);
    for (unsigned set = 1; set < kMasks; ++set) {
        collectives::LeastTraffic sum;
        for (unsigned axes = 1; axes < kMasks; ++axes) {
            if ((axes & ~set) == 0) {
                sum.receive += traffic[axes].receive;
                sum.send += traffic[axes].send;
                sum.mean += traffic[axes].mean;
            }
        }
        const collectives::LinkCount links = collectives::links_per_chip(slice, set);
        for (const sim::Seconds time : {at_rate(sum.receive, links.fewest, rates.ici_one_way),
                                        at_rate(sum.send, links.fewest, rates.ici_one_way),
                                        at_rate(sum.mean, links.mean, rates.ici_one_way)}) {
            raise(lower, time, set);
        }
    }
    const collectives::LeastTraffic between = traffic_between_slices(program, slice, mesh);
    const sim::Bytes most = std::max({between.receive, between.send, between.mean});
    raise(lower, at_rate(most, rates.between_slices.hosts, rates.between_slices.dcn),
          collectives::kDcnClass);
    raise(lower, at_rate(most, slice.size(), rates.between_slices.pcie), collectives::kPcieClass);
    lower.time = lower.compute;
    lower.bound = "compute";
    if (lower.hbm > lower.time) {
        lower.time = lower.hbm;
        lower.bound = "hbm";
    }
    if (lower.links > lower.time) {
        lower.time = lower.links;
        lower.bound = lower.link_classes == collectives::kDcnClass ? "dcn"
                      : lower.link_classes == collectives::kPcieClass
                          ? "pcie"
                          : axes_name(lower.link_classes);
    }
    return lower;
}

sim::Seconds roofline_serial(const StepProgram& program, const topology::Lattice& slice,
                             const topology::DeviceMesh& mesh, const MachineRates& rates) {
    // Layers repeat their collectives: the bound of each kind is worked out once.
    std::map<std::tuple<collectives::Operation, std::vector<std::string>, double>, sim::Seconds>
        bounds;
    sim::Seconds sum;
    for (const Op& op : program.ops) {
        if (const auto* work = std::get_if<Compute>(&op.work)) {
            const ComputeTime time = compute_time(*work, rates);
            sum += time.mxu < time.hbm ? time.hbm : time.mxu;
        } else {
            const auto& collective = std::get<Collective>(op.work);
            const auto [bound, added] = bounds.try_emplace(
                {collective.operation, collective.axes, collective.bytes.value()});
            if (added) {
                bound->second = collectives::physical_bound(
                    collective.operation, slice,
                    {mesh.group(collective.axes), mesh.across(collective.axes)}, collective.bytes,
                    rates.ici_one_way, rates.between_slices);
            }
            sum += bound->second;
        }
    }
    return sum;
}

}  // namespace podsim::workloads
