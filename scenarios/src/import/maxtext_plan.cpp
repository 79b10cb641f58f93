// Machine and mesh of a MaxText run.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/base/quote.h"
#include "scenarios/src/import/maxtext_import.h"
#include "scenarios/src/import/maxtext_keys.h"
#include "scenarios/src/import/maxtext_ways.h"
#include "topology/chips/chip.h"
#include "topology/chips/slice_names.h"
#include "topology/lattice/shape.h"
#include "topology/mesh/mesh.h"
#include "workloads/plan/axes.h"

namespace podsim::scenarios {
namespace {

using Ways = MaxTextWays;

std::size_t place_of(std::string_view name) {
    return static_cast<std::size_t>(
        std::ranges::find(kMaxTextParallelisms, name, &MaxTextParallelism::name) -
        kMaxTextParallelisms.begin());
}

/// Returns the ways of `ici_*` or `dcn_*`, which multiply to `members`.
Ways read_ways(MaxTextSettings& settings, const std::string& prefix, std::string_view filling,
               std::int64_t members) {
    Ways ways{};
    std::int64_t product = 1;
    std::string open;
    std::string said;
    for (std::size_t i = 0; i < ways.size(); ++i) {
        const std::string key =
            fmt::format("{}_{}_parallelism", prefix, kMaxTextParallelisms[i].name);
        // One way changes nothing, so the default is not recorded as taken.
        const bool fills = kMaxTextParallelisms[i].name == filling;
        ways[i] = fills || settings.has(key) ? settings.whole(key, -1, fills ? -1 : 1) : 1;
        if (ways[i] == 0) {
            settings.refuse(key, "0 is no number of ways", "write 1 or more, or -1 to fill up");
        }
        if (ways[i] == -1) {
            if (!open.empty()) {
                settings.refuse(key, fmt::format("-1, as {} is", open), "one of them may fill up");
            }
            open = key;
            continue;
        }
        product = std::min(product * ways[i], std::int64_t{1} << 32);
        said = ways[i] > 1 || said.empty() ? key : said;
    }
    if (open.empty() ? product != members : product > members || members % product != 0) {
        settings.refuse(said,
                        fmt::format("the {}_*_parallelism multiply to {}{}, but there are {} {}",
                                    prefix, product, open.empty() ? "" : " without the -1", members,
                                    prefix == "ici" ? "devices in a slice" : "slices"),
                        "change one of them, or let one be -1");
    }
    for (std::int64_t& way : ways) {
        way = way == -1 ? members / product : way;
    }
    return ways;
}

/// Divides one of the parallelisms by the devices of a chip, since a scenario's chip does the work
/// of its devices.
void join_devices(MaxTextSettings& settings, Ways& ways, const MaxTextMachine& machine,
                  std::vector<std::string>& notes) {
    if (machine.devices_per_chip == 1) {
        return;
    }
    for (const std::string_view name : {"data", "fsdp_transpose", "fsdp", "tensor", "expert"}) {
        std::int64_t& way = ways[place_of(name)];
        if (way % machine.devices_per_chip == 0) {
            way /= machine.devices_per_chip;
            notes.push_back(fmt::format(
                "a chip of {} is {} devices: {} of chips is that of devices "
                "over {}",
                machine.chip, machine.devices_per_chip, name, machine.devices_per_chip));
            return;
        }
    }
    settings.refuse(
        "ici_fsdp_parallelism", "no parallelism is even",
        fmt::format("a chip of {} is two devices, and podsim counts chips", machine.chip));
}

void refuse_unlike(MaxTextSettings& settings, const Ways& ways, const std::string& prefix) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
        if (kMaxTextParallelisms[i].axis.empty() && ways[i] > 1) {
            settings.refuse(fmt::format("{}_{}_parallelism", prefix, kMaxTextParallelisms[i].name),
                            fmt::format("{} ways of it are not modelled", ways[i]), "write 1");
        }
    }
}

bool is_size(const std::string& axis) {
    return axis.find_first_of("0123456789") != std::string::npos;
}

/// Returns axes such as `fsdp: x y z` if one parallelism has the whole slice, or `fsdp: 64`.
std::vector<std::string> axes_of(const Ways& ici, const Ways& dcn, const MaxTextMachine& machine,
                                 const MaxTextModel& model) {
    const std::int64_t alone = std::ranges::count_if(ici, [](std::int64_t way) { return way > 1; });
    std::vector<std::string> axes;
    for (const std::string_view axis : kMaxTextAxes) {
        std::int64_t within = 1;
        std::int64_t between = 1;
        for (std::size_t i = 0; i < kMaxTextParallelisms.size(); ++i) {
            const bool of_axis = maxtext_axis(i, model) == axis;
            within *= of_axis ? ici[i] : 1;
            between *= of_axis ? dcn[i] : 1;
        }
        if (within * between == 1) {
            continue;
        }
        std::string letters = between > 1 ? "slice " : "";
        letters += within > 1 ? std::string("x y z").substr(
                                    0, machine.slice.find('x') == machine.slice.rfind('x') ? 3 : 5)
                              : "";
        const bool whole = within == machine.chips || within == 1;
        if (alone <= 1 && whole && (between == 1 || between == machine.slices)) {
            axes.push_back(
                fmt::format("{}: {}", axis, letters.substr(0, letters.find_last_not_of(' ') + 1)));
        } else {
            axes.push_back(fmt::format("{}: {}", axis, within * between));
        }
    }
    return axes;
}

/// Rewrites axes as sizes: the two cannot be mixed.
void write_sizes(std::vector<std::string>& axes, const MaxTextMachine& machine) {
    for (std::string& text : axes) {
        if (!is_size(text)) {
            const bool slices = text.find("slice") != std::string::npos;
            const bool inside = text.find(" x") != std::string::npos;
            text = fmt::format("{}: {}", text.substr(0, text.find(':')),
                               (slices ? machine.slices : 1) * (inside ? machine.chips : 1));
        }
    }
}

/// Returns `mesh_mapping: jax`, which is MaxText's, for sizes as a scenario writes them. JAX
/// refuses a mesh for which an axis must be split, unless allow_split_physical_axes is set. Empty
/// for chips with several devices: JAX lays out devices.
std::string mapping_of(MaxTextSettings& settings, const MaxTextMachine& machine,
                       const std::vector<std::string>& axes, std::vector<std::string>& notes) {
    const std::string key = "allow_split_physical_axes";
    const bool splits = settings.has(key) && settings.flag(key, false);
    if (machine.devices_per_chip > 1) {
        return {};
    }
    std::vector<std::pair<std::string, int>> sizes;
    for (const std::string& axis : axes) {
        const std::size_t colon = axis.find(':');
        sizes.emplace_back(axis.substr(0, colon), std::stoi(axis.substr(colon + 1)));
    }
    try {
        const topology::Lattice slice{.lengths = machine.shape};
        const topology::DeviceMesh mesh =
            topology::map_mesh_as_jax(slice, sizes, workloads::placing_order(), splits,
                                      static_cast<int>(machine.slices), machine.chip);
        if (const auto unlike = topology::unlike_jax(mesh, slice, machine.chip); !unlike.empty()) {
            notes.push_back(fmt::format(
                "JAX orders the {} chips of {} itself: groups of {} have other members here (there "
                "they are no factors of axes)",
                machine.chips, machine.slice, fmt::join(unlike, " and ")));
        }
    } catch (const sim::InputError& error) {
        settings.cannot(
            key, fmt::format("JAX finds no mesh of these sizes on {}, so that MaxText does not "
                             "run there; podsim's own mapping is taken",
                             machine.slice));
        return {};
    }
    return fmt::format("mesh_mapping: {}\n", splits ? "jax_split" : "jax");
}

}  // namespace

MaxTextMachine maxtext_machine(MaxTextSettings& settings) {
    const std::string name = settings.text("compile_topology", "");
    if (name.empty()) {
        settings.refuse("compile_topology", "the keys do not say the machine",
                        "add compile_topology=v5p-512 (the launcher's device type), and "
                        "compile_topology_num_slices for several slices");
    }
    MaxTextMachine machine;
    topology::Point& shape = machine.shape;
    try {
        if (topology::is_slice_name(name)) {
            const topology::NamedSlice slice = topology::named_slice(name);
            machine.chip = slice.chip;
            shape = slice.shape;
        } else {  // no slice: either the chip is wrong, or there is no shape
            const std::size_t dash = std::min(name.rfind('-'), name.size());
            machine.chip = topology::find_chip(printable(name.substr(0, dash))).name;
            shape = topology::parse_shape(dash < name.size() ? name.substr(dash + 1) : "");
        }
    } catch (const sim::InputError& error) {
        settings.refuse("compile_topology", error.problem(), error.remedy());
    }
    const topology::ChipSpec& chip = topology::find_chip(machine.chip);
    machine.slice = topology::to_string(shape, chip.torus_dimensions.value);
    machine.chips = std::int64_t{shape[0]} * shape[1] * shape[2];
    machine.devices_per_chip = chip.devices.value;
    machine.axes = static_cast<int>(std::ranges::count_if(shape, [](int n) { return n > 1; }));
    const std::int64_t slices = settings.whole("compile_topology_num_slices", -1, 1);
    if (slices == 0) {
        settings.refuse("compile_topology_num_slices", "0 is no number of slices",
                        "write 1 or more, or -1 for one");
    }
    machine.slices = std::max<std::int64_t>(slices, 1);
    if (settings.overridden("num_slices") && settings.whole("num_slices", -1, -1) > 0 &&
        settings.said("num_slices") != std::to_string(machine.slices)) {
        settings.cannot("num_slices",
                        fmt::format("the machine has {} by compile_topology_num_slices, from which "
                                    "MaxText sets this one",
                                    machine.slices));
    }
    return machine;
}

MaxTextMesh maxtext_mesh(MaxTextSettings& settings, const MaxTextMachine& machine,
                         const MaxTextModel& model, std::vector<std::string>& notes) {
    Ways ici = read_ways(settings, "ici", "fsdp", machine.devices());
    const Ways dcn = read_ways(settings, "dcn", "data", machine.slices);
    refuse_unlike(settings, ici, "ici");
    refuse_unlike(settings, dcn, "dcn");
    std::vector<std::string> axes = maxtext_rings(settings, machine, model, ici, dcn, notes);
    join_devices(settings, ici, machine, notes);
    if (ici[place_of("fsdp_transpose")] > 1) {
        notes.emplace_back(
            "fsdp_transpose is fsdp here: the same bytes on each chip, split along "
            "one dimension");
    }
    if (model.expert_axis_is_fsdp && ici[place_of("expert")] * dcn[place_of("expert")] > 1) {
        notes.push_back(
            fmt::format("expert is fsdp here: {}'s rules split batch and weights over both",
                        model.experts > 0 ? "the model" : "the model has no experts, and MaxText"));
    }
    const auto ways = [&](std::string_view name) {
        return ici[place_of(name)] * dcn[place_of(name)];
    };
    std::string mapping;
    if (axes.empty()) {
        axes = axes_of(ici, dcn, machine, model);
        if (std::ranges::any_of(axes, is_size)) {
            write_sizes(axes, machine);
            mapping = mapping_of(settings, machine, axes, notes);
        }
    }
    std::string text = fmt::format("mesh: {{{}}}\n{}", fmt::join(axes, ", "), mapping);
    return {std::move(text), ways("pipeline"), ways("data") > 1,
            model.expert_axis_is_fsdp ? 1 : ways("expert"),
            ways("tensor") * ways("tensor_transpose")};
}

}  // namespace podsim::scenarios
