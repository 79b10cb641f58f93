// Reads the machine of a scenario or of a command line.
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <utility>
#include <vector>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/load_parts.h"
#include "scenarios/src/scenario/read_profile.h"
#include "sim/base/nearest.h"
#include "topology/chips/slice_names.h"
#include "topology/lattice/hosts.h"

namespace podsim::scenarios {
namespace {

using topology::ChipSpec;
using topology::Sourced;

constexpr std::pair<std::string_view, HbmRule> kHbmRules[] = {{"private", HbmRule::separate},
                                                              {"shared", HbmRule::shared}};
constexpr std::pair<std::string_view, LatencyRule> kLatencyRules[] = {
    {"additive", LatencyRule::additive}, {"floor", LatencyRule::floor}};
constexpr std::pair<std::string_view, topology::IciRates> kIciRates[] = {
    {"book", topology::IciRates::book}, {"vendor", topology::IciRates::vendor}};
constexpr std::pair<std::string_view, topology::Wraparound> kWraparounds[] = {
    {"full_pod", topology::Wraparound::full_pod},
    {"cubes_of_4", topology::Wraparound::cubes_of_4},
    {"length_of_16", topology::Wraparound::length_of_16},
    {"every_axis", topology::Wraparound::every_axis},
    {"never", topology::Wraparound::never},
};

template <class Value, std::size_t Count>
std::vector<std::string> names_in(const std::pair<std::string_view, Value> (&values)[Count]) {
    std::vector<std::string> names;
    for (const auto& [name, value] : values) {
        names.emplace_back(name);
    }
    return names;
}

/// Throws sim::InputError that names the values of an option.
template <class Value, std::size_t Count>
Value one_of(const std::pair<std::string_view, Value> (&values)[Count], std::string_view what,
             const std::string& text) {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : values) {
        if (name == text) {
            return value;
        }
        names.push_back(name);
    }
    throw sim::unknown_name(what, printable(text), names);
}

topology::Point parse_limited_shape(const std::string& text) {
    const topology::Point shape = topology::parse_shape(text);
    check_chip_limit(shape);
    return shape;
}

/// Returns a shape, or that of a slice given by name, as `v5p-512`.
topology::Point shape_of(const std::string& text, const std::string& chip) {
    if (!topology::is_slice_name(text)) {
        return parse_limited_shape(text);
    }
    const topology::NamedSlice named = topology::named_slice(text);
    if (!chip.empty() && named.chip != chip) {
        throw sim::InputError(fmt::format("{} is a slice of {}, not of {}", in_quotes(text),
                                          named.chip, printable(chip)),
                              "leave the chip out, or write a shape");
    }
    return named.shape;
}

/// Rates below this are typing errors, and their times leave the clock's range.
sim::BytesPerSecond parse_link_rate(const std::string& text) {
    const sim::BytesPerSecond rate = parse_rate(text);
    if (rate < sim::BytesPerSecond(1e6)) {
        throw sim::InputError(fmt::format("{} is below 1 MB/s", in_quotes(text)),
                              "write a rate such as 90 GB/s");
    }
    return rate;
}

sim::FlopsPerSecond parse_peak(const std::string& text) {
    const sim::FlopsPerSecond peak = parse_flops_rate(text);
    if (peak < sim::FlopsPerSecond(1e9)) {
        throw sim::InputError(fmt::format("{} is below 1 GFLOP/s", in_quotes(text)),
                              "write a rate such as 459 TFLOP/s");
    }
    return peak;
}

sim::Seconds parse_latency(const std::string& text) {
    const sim::Seconds latency = parse_time(text);
    if (latency > sim::Seconds(1)) {
        throw sim::InputError(fmt::format("{} is longer than 1 s", in_quotes(text)),
                              "write a latency such as 1 us");
    }
    return latency;
}

sim::Bytes parse_message_cap(const std::string& text) {
    const sim::Bytes cap = parse_bytes(text);
    if (cap < sim::Bytes(4096)) {
        throw sim::InputError(fmt::format("{} is below 4 KiB", in_quotes(text)),
                              "write a size such as 4 MiB");
    }
    return cap;
}

sim::Bytes parse_capacity(const std::string& text) {
    const sim::Bytes capacity = parse_bytes(text);
    if (capacity.value() <= 0) {
        throw sim::InputError(fmt::format("{} is zero", in_quotes(text)),
                              "write a size such as 96 GB");
    }
    return capacity;
}

sim::Bytes parse_vmem(const std::string& text) {
    const sim::Bytes size = parse_bytes(text);
    if (size < sim::Bytes(1 << 20)) {
        throw sim::InputError(fmt::format("{} is below 1 MiB", in_quotes(text)),
                              "write a size such as 128 MiB");
    }
    return size;
}

/// Returns true if the scenario changes the value. The catalogue's own value changes nothing.
template <class T, class Parse>
bool change(Sourced<T>& field, const Reader& place, Parse parse) {
    place.stands(field.value, parse, field.source);
    const T value = place.present() ? place.read(parse) : field.value;
    if (value == field.value) {
        return false;
    }
    field = {value, "the scenario"};
    return true;
}

/// A changed capacity is all for programs, unless the scenario also says what the runtime keeps.
void read_hbm(ChipSpec& spec, const Reader& capacity, const Reader& reserved) {
    if (change(spec.hbm_capacity, capacity, parse_capacity)) {
        spec.hbm_reserved = {sim::Bytes(0), "hbm_capacity of the scenario is all for programs"};
    }
    change(spec.hbm_reserved, reserved, parse_bytes);
    reserved.check({"hardware.chip.base", "hardware.chip.hbm_capacity"}, [&] {
        if (!(spec.usable_hbm().value() > 0)) {
            throw reserved.error(fmt::format("{} leaves nothing of the {} of a chip",
                                             format_bytes(spec.hbm_reserved.value),
                                             format_bytes(spec.hbm_capacity.value)),
                                 "write what the runtime keeps of them, such as 256 MiB");
        }
    });
}

/// Reads a shape with at most the axes of the chip.
void change_shape(ChipSpec& spec, Sourced<topology::Point>& field, const Reader& place) {
    const int dimensions = spec.torus_dimensions.value;
    change(field, place, parse_limited_shape);
    place.works_out_as(topology::to_string(field.value, dimensions), field.source);
    place.falls_back_on(field.source);
    for (int axis = dimensions; axis < topology::kAxes; ++axis) {
        if (field.value[static_cast<std::size_t>(axis)] != 1) {
            throw place.error(fmt::format("{} has more than the {} axes of {}",
                                          topology::to_string(field.value), dimensions, spec.name),
                              fmt::format("write a shape such as {}",
                                          topology::to_string(field.value, dimensions)));
        }
    }
}

void read_pod(ChipSpec& spec, const Reader& pod, const Reader& host) {
    pod.check({"hardware.chip.base"}, [&] { change_shape(spec, spec.pod_shape, pod); });
    host.check({"hardware.chip.base"}, [&] { change_shape(spec, spec.host_shape, host); });
    const auto agree = [&] {
        try {
            topology::check_host(spec.host_shape.value, spec.pod_shape.value,
                                 spec.torus_dimensions.value);
        } catch (const sim::InputError& error) {
            throw host.present() ? host.located(error) : pod.located(error);
        }
    };
    host.check({"hardware.chip.base", "hardware.chip.pod", "hardware.chip.host"}, agree);
}

/// Returns the chip that the name of a slice contains.
ChipSpec chip_of_slice(const Reader& slice) {
    return slice.get<ChipSpec>(
        [](const std::string& name) {
            return topology::find_chip(topology::named_slice(name).chip);
        },
        {});
}

ChipSpec read_chip(const Reader& chip, const Reader& slice, topology::IciRates rates) {
    const auto find = [](const std::string& name) { return topology::find_chip(name); };
    for (const ChipSpec& each : topology::chip_catalogue()) {
        chip.may_be(each.name);
        chip["base"].may_be(each.name);
    }
    if (!chip.present() && slice.present() && topology::is_slice_name(slice.node().text)) {
        return chip_of_slice(slice);
    }
    ChipSpec spec = chip.is_map() ? chip["base"].read(find) : chip.read(find);
    if (chip.is_map()) {
        spec.name = chip["name"].get<std::string>([](const std::string& text) { return text; },
                                                  spec.name + " (modified)");
    }
    change(spec.bf16_flops, chip["bf16_flops"], parse_peak);
    change(spec.int8_ops, chip["int8_ops"], parse_peak);
    change(spec.fp8_flops, chip["fp8_flops"], parse_peak);
    change(spec.vpu_flops, chip["vpu_flops"], parse_peak);
    change(spec.vmem, chip["vmem"], parse_vmem);
    const int dimension = spec.mxu_dimension.value;
    const Reader mxu = chip["mxu"];
    const auto read = static_cast<int>(mxu.whole(1, 65536, dimension));
    mxu.falls_back_on(spec.mxu_dimension.source);
    if (read != dimension) {
        spec.mxu_dimension = {read, "the scenario"};
    }
    read_hbm(spec, chip["hbm_capacity"], chip["hbm_reserved"]);
    change(spec.hbm_bandwidth, chip["hbm_bandwidth"], parse_link_rate);
    const bool book = rates == topology::IciRates::book;
    Sourced<sim::BytesPerSecond>& link = book ? spec.ici_one_way_book : spec.ici_one_way_vendor;
    if (change(link, chip["ici_one_way"], parse_link_rate)) {
        spec.ici_one_way_book = spec.ici_one_way_vendor = link;
        spec.ici_both_ways_book = {2 * link.value, "the scenario"};
    }
    change(spec.ici_latency, chip["ici_latency"], parse_latency);
    change(spec.pcie_one_way, chip["pcie_one_way"], parse_link_rate);
    change(spec.pcie_latency, chip["pcie_latency"], parse_latency);
    change(spec.dcn_per_host, chip["dcn_per_host"], parse_link_rate);
    change(spec.dcn_latency, chip["dcn_latency"], parse_latency);
    read_pod(spec, chip["pod"], chip["host"]);
    const Reader rule = chip["wraparound"];
    rule.stands_as<topology::Wraparound>(kWraparounds, spec.wraparound.value,
                                         spec.wraparound.source);
    if (rule.present()) {
        spec.wraparound = {
            rule.choose<topology::Wraparound>(kWraparounds, topology::Wraparound::never),
            "the scenario"};
    }
    return spec;
}

/// Reads the lattice of the slices; the chip is read already.
void read_slice(const Reader& hardware, IdealHardware& result) {
    const Reader slice = hardware["slice"];
    const Reader slices = hardware["slices"];
    result.shape = slice.read([&](const std::string& text) {
        return shape_of(text, base_name(hardware["chip"], result.chip));
    });
    slice.derive({"hardware.slice", "hardware.twisted", "hardware.chip.base", "hardware.chip.pod",
                  "hardware.chip.host", "hardware.chip.wraparound"},
                 [&] {
                     try {
                         result.slice =
                             topology::make_slice(result.chip, result.shape, result.twisted);
                     } catch (const sim::InputError& error) {
                         throw slice.located(error);
                     }
                 });
    slices.check({"hardware.slice", "hardware.slices"}, [&] {
        if (result.chips() > kMostChips) {
            throw slices.error(fmt::format("{} slices have {} chips", result.slices,
                                           std::int64_t{result.slices} * result.slice.size()),
                               fmt::format("at most {} are allowed", kMostChips));
        }
    });
}

}  // namespace

void check_chip_limit(const topology::Point& shape) {
    const std::int64_t chips = std::int64_t{shape[0]} * shape[1] * shape[2];
    if (chips > kMostChips) {
        throw sim::InputError(fmt::format("{} has {} chips", topology::to_string(shape), chips),
                              fmt::format("at most {} are allowed", kMostChips));
    }
}

IdealHardware read_hardware(const Reader& hardware, const std::filesystem::path& base,
                            bool serves) {
    IdealHardware result;
    result.ici_rates =
        hardware["ici_rates"].choose<topology::IciRates>(kIciRates, topology::IciRates::book);
    result.chip = read_chip(hardware["chip"], hardware["slice"], result.ici_rates);
    hardware["chip"].check({"hardware.chip.base"},
                           [&] { result.base = base_name(hardware["chip"], result.chip); });
    result.twisted = hardware["twisted"].flag(false);
    result.slices = static_cast<int>(hardware["slices"].whole(1, kMostSlices, 1));
    read_slice(hardware, result);
    result.oversubscription = hardware["oversubscription"].get<double>(parse_multiple, 1);
    hardware["profile"].check({"hardware.chip.base"}, [&] {
        read_profile(hardware, base, serves, result);
        if (!hardware["profile"].is_map()) {
            tell_factors(hardware["profile"], result);
        }
    });
    read_core_clock(hardware, result);
    result.latency = hardware["latency"].choose<LatencyRule>(kLatencyRules, LatencyRule::additive);
    result.hbm = hardware["hbm"].choose<HbmRule>(kHbmRules, HbmRule::shared);
    result.message_cap =
        hardware["message_cap"].get<sim::Bytes>(parse_message_cap, result.message_cap);
    return result;
}

std::vector<std::string> latency_rule_names() {
    return names_in(kLatencyRules);
}

std::vector<std::string> hbm_rule_names() {
    return names_in(kHbmRules);
}

IdealHardware hardware_from_options(const HardwareOptions& options) {
    IdealHardware result;
    const auto at = [](std::string_view option, const std::string& value, auto&& action) {
        try {
            action();
        } catch (const sim::InputError& error) {
            throw error.at({fmt::format("--{} {}", option, printable(value)), 0, 0});
        }
    };
    if (options.chip.empty()) {
        at("slice", options.slice, [&] {
            result.chip = topology::find_chip(topology::named_slice(printable(options.slice)).chip);
        });
    } else {
        at("chip", options.chip,
           [&] { result.chip = topology::find_chip(printable(options.chip)); });
    }
    at("slice", options.slice, [&] {
        result.shape = shape_of(printable(options.slice), result.chip.name);
        result.twisted = options.twisted;
        result.slice = topology::make_slice(result.chip, result.shape, options.twisted);
    });
    at("latency", options.latency,
       [&] { result.latency = one_of(kLatencyRules, "latency rule", options.latency); });
    at("hbm", options.hbm, [&] { result.hbm = one_of(kHbmRules, "HBM rule", options.hbm); });
    return result;
}

}  // namespace podsim::scenarios
