// custom_mesh of a MaxText run.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/src/base/quote.h"
#include "scenarios/src/import/maxtext_ways.h"
#include "topology/mesh/mesh.h"

namespace podsim::scenarios {
namespace {

using topology::AxisFactor;
using Factors = std::vector<AxisFactor>;

constexpr const char* kKey = "custom_mesh";
constexpr int kSide = 16;       // JAX lays out kSide x kSide devices
constexpr int kRowsOfABox = 2;  // the devices of a box fill this many rows

struct RingMesh {
    std::string_view name;
    std::int64_t boxes;
    std::int64_t devices;  ///< of a box
};
constexpr std::array kRingMeshes =
    std::to_array<RingMesh>({{"hybrid_ring_64x4", 64, 4}, {"hybrid_ring_32x8", 32, 8}});

/// Returns the requested mesh; null if MaxText does not read the key.
const RingMesh* ring_mesh(MaxTextSettings& settings, const MaxTextMachine& machine) {
    if (!settings.has(kKey)) {
        return nullptr;
    }
    if (settings.said(kKey).empty()) {
        settings.pass_over(kKey, "its usual value");
        return nullptr;
    }
    const std::string split = "allow_split_physical_axes";
    if (machine.slices == 1 && !(settings.has(split) && settings.flag(split, false))) {
        settings.pass_over(kKey,
                           "MaxText looks at it only with allow_split_physical_axes=true, or over "
                           "several slices");
        return nullptr;
    }
    const std::string name = settings.text(kKey, "");
    const auto* const mesh = std::ranges::find(kRingMeshes, name, &RingMesh::name);
    if (mesh == kRingMeshes.end()) {
        settings.refuse(kKey, fmt::format("unknown mesh {}", in_quotes(name)),
                        "allowed: hybrid_ring_64x4, hybrid_ring_32x8, or nothing");
    }
    return mesh;
}

void check_ways(const MaxTextSettings& settings, const MaxTextMachine& machine,
                const RingMesh& mesh, const MaxTextWays& ici) {
    std::vector<std::string> said;
    bool fits = true;
    for (std::size_t i = 0; i < ici.size(); ++i) {
        if (ici[i] > 1) {
            said.push_back(fmt::format("{} {}", kMaxTextParallelisms[i].name, ici[i]));
            fits = fits && (ici[i] == mesh.boxes || ici[i] == mesh.devices);
        }
    }
    if (!fits || std::ranges::count(ici, mesh.boxes) == 0 ||
        std::ranges::count(ici, mesh.devices) == 0) {
        settings.refuse(
            kKey,
            fmt::format("{} is for two ici_*_parallelism, {} and {} ways, but there {} {}",
                        mesh.name, mesh.boxes, mesh.devices, said.size() == 1 ? "is" : "are",
                        said.empty() ? "none" : fmt::format("{}", fmt::join(said, ", "))),
            fmt::format("let one be {} and one {}, or leave custom_mesh out", mesh.boxes,
                        mesh.devices));
    }
    if (machine.devices() != std::int64_t{kSide} * kSide) {
        settings.refuse(kKey,
                        fmt::format("MaxText lays out 16x16 devices of a slice, but there are {}",
                                    machine.devices()),
                        "take a slice of 256, or leave custom_mesh out");
    }
}

/// Returns the physical axes of i and of j, as JAX assigns them.
std::pair<Factors, Factors> sides(const MaxTextSettings& settings, const MaxTextMachine& machine) {
    try {
        const topology::DeviceMesh mesh = topology::map_mesh_as_jax(
            {.lengths = machine.shape}, {{"i", kSide}, {"j", kSide}}, {}, false);
        return {mesh.axes()[0].factors, mesh.axes()[1].factors};
    } catch (const sim::InputError&) {
        settings.refuse(
            kKey,
            fmt::format("JAX finds no mesh of 16x16 on {}, so that MaxText does not run there",
                        machine.slice),
            "take a slice whose axes multiply to 16 and 16, or leave custom_mesh out");
    }
}

/// Takes the outer `ways` from the front of `factors`. Either the remaining ways divide a length,
/// or the length divides them.
Factors take_outer(Factors& factors, std::int64_t ways) {
    Factors outer;
    while (ways > 1) {
        AxisFactor& front = factors.front();
        const int taken = static_cast<int>(std::min<std::int64_t>(ways, front.length));
        front.length /= taken;
        outer.push_back({front.axis, front.stride * front.length, taken});
        ways /= taken;
        if (front.length == 1) {
            factors.erase(factors.begin());
        }
    }
    return outer;
}

int members(const Factors& factors) {
    return topology::LogicalAxis{"", factors}.size();
}

void append(Factors& factors, const Factors& more) {
    factors.insert(factors.end(), more.begin(), more.end());
}

/// Returns the factors of a slice in the order of its devices, the last the fastest: boxes, then
/// the devices of a box.
Factors in_order(const std::pair<Factors, Factors>& axes, const RingMesh& mesh) {
    auto [rows, columns] = axes;
    Factors order = take_outer(rows, kSide / kRowsOfABox);
    append(order, take_outer(columns, kSide / (mesh.devices / kRowsOfABox)));
    append(order, rows);
    append(order, columns);
    return order;
}

Factors whole_slice(const MaxTextMachine& machine) {
    Factors axes;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        const int length = machine.shape[static_cast<std::size_t>(axis)];
        if (length > 1) {
            axes.push_back({axis, 1, length});
        }
    }
    return axes;
}

std::string text_of(const Factors& factors, const MaxTextMachine& machine) {
    std::vector<std::string> texts;
    for (const AxisFactor& factor : factors) {
        texts.push_back(topology::to_string(
            factor, factor.axis == topology::kSliceAxis
                        ? static_cast<int>(machine.slices)
                        : machine.shape[static_cast<std::size_t>(factor.axis)]));
    }
    return fmt::format("{}", fmt::join(texts, " "));
}

/// Notes deviations in the factors that a parallelism has within a slice.
void note_order(const RingMesh& mesh, std::string_view axis, const Factors& box,
                const Factors& within, std::vector<std::string>& notes) {
    if (axis == "pipeline" && within.size() >= box.size() &&
        std::equal(box.rbegin(), box.rend(), within.rbegin())) {
        notes.push_back(fmt::format(
            "{} numbers the {} devices of a box round its edge; here the stages in a box go along "
            "its axes, and some handovers pass more links",
            mesh.name, mesh.devices));
    } else if (axis != "expert" && within == box && mesh.devices > 4) {  // experts exchange
        notes.push_back(fmt::format(
            "{} makes rings round boxes of 2x4; here AllGathers and ReduceScatters over {} go "
            "along the axes of a box and take up to 13 % longer than round its edge",
            mesh.name, axis));
    }
}

}  // namespace

std::vector<std::string> maxtext_rings(MaxTextSettings& settings, const MaxTextMachine& machine,
                                       const MaxTextModel& model, const MaxTextWays& ici,
                                       const MaxTextWays& dcn, std::vector<std::string>& notes) {
    const RingMesh* const mesh = ring_mesh(settings, machine);
    if (mesh == nullptr) {
        return {};
    }
    check_ways(settings, machine, *mesh, ici);
    if (machine.devices_per_chip > 1) {
        settings.cannot(kKey, fmt::format("it lays out devices, of which a chip of {} is {}; "
                                          "podsim's own mapping is taken",
                                          machine.chip, machine.devices_per_chip));
        return {};
    }
    Factors chips = in_order(sides(settings, machine), *mesh);
    Factors box = chips;
    take_outer(box, mesh->boxes);
    Factors slices{{topology::kSliceAxis, 1, static_cast<int>(machine.slices)}};
    std::array<Factors, kMaxTextAxes.size()> within;
    std::array<Factors, kMaxTextAxes.size()> between;
    for (std::size_t i = 0; i < ici.size(); ++i) {
        const auto axis = static_cast<std::size_t>(
            std::ranges::find(kMaxTextAxes, maxtext_axis(i, model)) - kMaxTextAxes.begin());
        if (axis < kMaxTextAxes.size()) {
            append(within[axis], take_outer(chips, ici[i]));
            append(between[axis], take_outer(slices, dcn[i]));
        }
    }
    std::vector<std::string> axes;
    for (std::size_t axis = 0; axis < kMaxTextAxes.size(); ++axis) {
        note_order(*mesh, kMaxTextAxes[axis], box, within[axis], notes);
        Factors factors = between[axis];
        if (members(within[axis]) == machine.chips) {
            settings.pass_over(kKey, fmt::format("both of its parallelisms are {} here, which has "
                                                 "the whole slice",
                                                 kMaxTextAxes[axis]));
            append(factors, whole_slice(machine));
        } else {
            append(factors, within[axis]);
        }
        if (!factors.empty()) {
            axes.push_back(fmt::format("{}: {}", kMaxTextAxes[axis], text_of(factors, machine)));
        }
    }
    return axes;
}

}  // namespace podsim::scenarios
