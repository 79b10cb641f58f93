#include "workloads/bounds/roofline.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "workloads/bounds/compute_time.h"
#include "workloads/bounds/ici_traffic.h"
#include "workloads/bounds/known_kinds.h"
#include "workloads/bounds/least_traffic.h"
#include "workloads/program/alike_work.h"

namespace podsim::workloads {
namespace {

std::string axes_name(unsigned mask, const topology::DeviceMesh& mesh) {
    std::string axes;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        if ((mask >> axis & 1U) != 0) {
            axes += mesh.axis_name(axis);
        }
    }
    std::ranges::sort(axes);
    std::string name = "ici ";
    for (const char axis : axes) {
        name += name.back() == ' ' ? "" : "+";
        name += axis;
    }
    return name;
}

sim::Seconds at_rate(sim::Bytes bytes, double links, sim::BytesPerSecond link) {
    return bytes.value() == 0 ? sim::Seconds(0) : bytes / (link * links);
}

/// Returns the lower bound of the traffic of one chip of a program with other slices.
collectives::LeastTraffic traffic_between_slices(const StepPrograms& programs, std::size_t program,
                                                 const topology::DeviceMesh& mesh) {
    collectives::LeastTraffic sum{};
    KnownMembers known(mesh);
    const std::vector<Op>& ops = programs.programs[program].ops;
    OfAlike<collectives::LeastTraffic> traffic(programs.programs[program]);
    for (OpIndex op = 0; op < ops.size(); ++op) {
        if (const auto* handover = std::get_if<Handover>(&ops[op].work)) {
            if (way_of(*handover, program, programs, mesh).slices != 0) {
                sum += handed(*handover);
            }
        } else if (const auto* collective = std::get_if<Collective>(&ops[op].work)) {
            sum += traffic.of(op, [&] {
                const auto& [group, across] = known.of(collective->axes);
                return collectives::least_traffic(collective->operation, across.length,
                                                  collective->bytes) *
                       (1.0 / collectives::group_size(group));
            });
        }
    }
    return sum;
}

/// Returns the bytes that one chip of a program exchanges with its host's memory.
collectives::LeastTraffic traffic_with_host(const StepProgram& program) {
    collectives::LeastTraffic sum{};
    for (const Op& op : program.ops) {
        if (const auto* transfer = std::get_if<HostTransfer>(&op.work)) {
            (transfer->direction == collectives::HostDirection::to_host ? sum.send : sum.receive) +=
                transfer->bytes;
        }
    }
    sum.mean = sum.receive;
    return sum;
}

/// Returns the chips of each program in each slice: [slice][program].
std::vector<std::vector<int>> chips_of_programs(const StepPrograms& programs,
                                                const topology::Lattice& slice,
                                                const topology::DeviceMesh& mesh) {
    const std::size_t count = programs.programs.size();
    if (count == 1) {
        return {{slice.size()}};
    }
    const topology::SliceFactor across = mesh.across(programs.axes);
    // Slices beyond the factor's span repeat those before.
    std::vector<std::vector<int>> chips(static_cast<std::size_t>(across.stride * across.length),
                                        std::vector<int>(count));
    for (std::size_t s = 0; s < chips.size(); ++s) {
        for (int chip = 0; chip < slice.size(); ++chip) {
            ++chips[s][static_cast<std::size_t>(
                mesh.rank(programs.axes, slice.point(chip), static_cast<int>(s)))];
        }
    }
    return chips;
}

void raise(LowerBound& lower, sim::Seconds time, unsigned classes) {
    if (time > lower.links) {
        lower.links = time;
        lower.link_classes = classes;
    }
}

void raise_by_ici(LowerBound& lower, const StepPrograms& programs, const topology::Lattice& slice,
                  const topology::DeviceMesh& mesh, const MachineRates& rates) {
    const std::vector<IciTraffic> traffic = ici_traffic(programs, slice, mesh);
    const double share = 1 / static_cast<double>(traffic.size());
    for (unsigned set = 1; set < IciTraffic::kSets; ++set) {
        const collectives::LinkCount links = collectives::links_per_chip(slice, set);
        sim::Bytes mean;
        for (const IciTraffic& of_program : traffic) {
            const collectives::LeastTraffic within = of_program.within(set);
            mean += within.mean * share;
            raise(lower, at_rate(within.receive, links.fewest, rates.ici_one_way), set);
            raise(lower, at_rate(within.send, links.fewest, rates.ici_one_way), set);
        }
        raise(lower, at_rate(mean, links.mean, rates.ici_one_way), set);
    }
    collectives::LinkLoad carried;
    for (const IciTraffic& of_program : traffic) {
        carried.add(of_program.carried, share);
    }
    if (!slice.twisted()) {
        const auto [bytes, axes] = carried.most(collectives::links_by_axis(slice));
        raise(lower, sim::Bytes(bytes) / rates.ici_one_way, axes);
    }
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        raise(lower, sim::Bytes(busiest_cut(traffic, axis)) / rates.ici_one_way, 1U << axis);
    }
}

/// Returns the bytes that the chips of one slice move together in one direction, on the busiest
/// slice, or the mean over slices if that is larger.
sim::Bytes most_of_slices(const std::vector<collectives::LeastTraffic>& of_chip,
                          const std::vector<std::vector<int>>& chips) {
    sim::Bytes most;
    sim::Bytes mean;
    for (const std::vector<int>& of_slice : chips) {
        collectives::LeastTraffic sum{};
        for (std::size_t p = 0; p < of_chip.size(); ++p) {
            sum += of_chip[p] * of_slice[p];
        }
        most = std::max({most, sum.receive, sum.send});
        mean += sum.mean / static_cast<double>(chips.size());
    }
    return std::max(most, mean);
}

void raise_by_slices(LowerBound& lower, const StepPrograms& programs,
                     const topology::Lattice& slice, const topology::DeviceMesh& mesh,
                     const MachineRates& rates) {
    std::vector<collectives::LeastTraffic> between;
    std::vector<collectives::LeastTraffic> over_pcie;
    for (std::size_t p = 0; p < programs.programs.size(); ++p) {
        between.push_back(traffic_between_slices(programs, p, mesh));
        const collectives::LeastTraffic host = traffic_with_host(programs.programs[p]);
        raise(lower, at_rate(std::max(host.send, host.receive), 1, rates.between_slices.pcie),
              collectives::kPcieClass);
        over_pcie.push_back(between.back());
        over_pcie.back() += host;
    }
    const auto chips = chips_of_programs(programs, slice, mesh);
    raise(lower,
          at_rate(most_of_slices(between, chips), rates.between_slices.hosts,
                  rates.between_slices.dcn),
          collectives::kDcnClass);
    raise(lower, at_rate(most_of_slices(over_pcie, chips), slice.size(), rates.between_slices.pcie),
          collectives::kPcieClass);
}

/// Returns the time to receive a handover, alone on the shortest routes or, between slices, on all
/// chips of a slice at once.
sim::Seconds handover_time(const Handover& handover, const topology::DeviceMesh::Displacement& way,
                           const topology::Lattice& slice, const MachineRates& rates) {
    if (handover.sends) {
        return {};
    }
    if (way.slices != 0) {
        const sim::Seconds dcn = at_rate(handover.bytes * slice.size(), rates.between_slices.hosts,
                                         rates.between_slices.dcn);
        const sim::Seconds pcie = at_rate(handover.bytes, 1, rates.between_slices.pcie);
        return dcn < pcie ? pcie : dcn;
    }
    const int routes = collectives::handover_links(slice, way.chips).routes;
    return at_rate(handover.bytes, routes, rates.ici_one_way);
}

void raise_hbm(LowerBound& lower, sim::Seconds kernels, sim::Seconds messages) {
    if (kernels + messages > lower.hbm) {
        lower.hbm = kernels + messages;
        lower.hbm_kernels = kernels;
    }
}

/// Raises the HBM bound. `kernels`: HBM time of each program's kernels.
void raise_by_hbm(LowerBound& lower, const StepPrograms& programs,
                  const std::vector<sim::Seconds>& kernels, const topology::DeviceMesh& mesh,
                  const MachineRates& rates) {
    if (!rates.hbm_shared) {
        for (const sim::Seconds time : kernels) {
            raise_hbm(lower, time, {});
        }
        return;
    }
    const auto members = static_cast<double>(programs.members());
    sim::Seconds mean_kernels;
    sim::Seconds mean_messages;
    for (std::size_t p = 0; p < kernels.size(); ++p) {
        const MemoryTraffic messages = memory_traffic(programs, p, mesh, rates);
        raise_hbm(lower, kernels[p], at_rate(messages.each, 1, rates.hbm));
        mean_kernels += kernels[p] / members;
        mean_messages += at_rate(messages.mean, 1, rates.hbm) / members;
        if ((p + 1) % programs.members() == 0) {  // all programs of a stage
            raise_hbm(lower, std::exchange(mean_kernels, {}), std::exchange(mean_messages, {}));
        }
    }
}

void raise_by_compute(LowerBound& lower, const StepPrograms& programs,
                      const topology::DeviceMesh& mesh, const MachineRates& rates) {
    std::vector<sim::Seconds> kernels;
    for (const StepProgram& program : programs.programs) {
        sim::Seconds compute;
        sim::Seconds vpu;
        sim::Seconds& hbm = kernels.emplace_back();
        OfAlike<ComputeTime> times(program);
        for (OpIndex op = 0; op < program.ops.size(); ++op) {
            if (const auto* work = std::get_if<Compute>(&program.ops[op].work)) {
                const ComputeTime& time = times.of(op, [&] { return compute_time(*work, rates); });
                compute += time.mxu;
                hbm += time.hbm;
                vpu += time.vpu;
            }
        }
        lower.compute = std::max(lower.compute, compute);
        lower.vpu = std::max(lower.vpu, vpu);
    }
    raise_by_hbm(lower, programs, kernels, mesh, rates);
}

}  // namespace

LowerBound roofline_lower(const StepPrograms& programs, const topology::Lattice& slice,
                          const topology::DeviceMesh& mesh, const MachineRates& rates) {
    LowerBound lower;
    raise_by_compute(lower, programs, mesh, rates);
    raise_by_ici(lower, programs, slice, mesh, rates);
    raise_by_slices(lower, programs, slice, mesh, rates);
    lower.time = lower.compute;
    lower.bound = "compute";
    if (lower.hbm > lower.time) {
        lower.time = lower.hbm;
        lower.bound = "hbm";
    }
    if (lower.vpu > lower.time) {
        lower.time = lower.vpu;
        lower.bound = "vpu";
    }
    if (lower.links > lower.time) {
        lower.time = lower.links;
        lower.bound = lower.link_classes == collectives::kDcnClass ? "dcn"
                      : lower.link_classes == collectives::kPcieClass
                          ? "pcie"
                          : axes_name(lower.link_classes, mesh);
    }
    return lower;
}

sim::Seconds roofline_serial(const StepPrograms& programs, const topology::Lattice& slice,
                             const topology::DeviceMesh& mesh, const MachineRates& rates) {
    KnownKinds<sim::Seconds> bounds;
    const auto bound_of = [&](const Collective& collective) {
        return bounds.of(collective, [&] {
            return collectives::physical_bound(
                {.operation = collective.operation,
                 .slice = slice,
                 .members = {mesh.group(collective.axes), collective.loads.empty()
                                                              ? mesh.across(collective.axes)
                                                              : topology::SliceFactor{}},
                 .bytes = collective.bytes,
                 .ends = ends_of(collective, slice, mesh)},
                rates.ici_one_way, rates.between_slices);
        });
    };
    sim::Seconds longest;
    for (std::size_t p = 0; p < programs.programs.size(); ++p) {
        const std::vector<Op>& ops = programs.programs[p].ops;
        OfAlike<sim::Seconds> times(programs.programs[p]);
        const auto time_of = [&](const Work& work) {
            if (const auto* compute = std::get_if<Compute>(&work)) {
                const ComputeTime time = compute_time(*compute, rates);
                return std::max({time.mxu, time.hbm, time.vpu});
            }
            if (const auto* collective = std::get_if<Collective>(&work)) {
                return bound_of(*collective);
            }
            if (const auto* handover = std::get_if<Handover>(&work)) {
                return handover_time(*handover, way_of(*handover, p, programs, mesh), slice, rates);
            }
            return at_rate(std::get<HostTransfer>(work).bytes, 1, rates.between_slices.pcie);
        };
        sim::Seconds sum;
        for (OpIndex op = 0; op < ops.size(); ++op) {
            sum += times.of(op, [&] { return time_of(ops[op].work); });
        }
        longest = std::max(longest, sum);
    }
    return longest;
}

}  // namespace podsim::workloads
