#include "scenarios/src/scenario/changed_chip.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>

#include "scenarios/src/base/format.h"
#include "topology/chips/chip.h"

namespace podsim::scenarios {
namespace {

using topology::ChipSpec;
using topology::IciRates;

// Fractions of the matrix units' peak: for matmuls alone, in tiles, and for attention's dot
// products. They depend on the dimension of the arrays too, because arrays of another size pad and
// fill differently.
constexpr std::string_view kOfMatmuls[] = {"mxu", "mxu_ramp", "mxu_grouped", "attention",
                                           "attention_backward"};
constexpr std::string_view kOfEightBits[] = {"mxu_8bit"};
constexpr std::string_view kOfVectors[] = {"vpu", "fusion"};
// Blocks that fill the VMEM decide the number of steps of a kernel's grid and the data that each
// loads.
constexpr std::string_view kOfVmem[] = {"grid_step_s", "attention", "attention_backward"};
constexpr std::string_view kOfHbm[] = {"hbm", "gather"};
constexpr std::string_view kOfIci[] = {"ici"};
constexpr std::string_view kOfDcn[] = {"dcn"};

std::string words(sim::FlopsPerSecond rate) {
    return format_flops_rate(rate);
}
std::string words(sim::BytesPerSecond rate) {
    return format_rate(rate);
}
std::string words(sim::Bytes bytes) {
    return format_bytes(bytes);
}
std::string words(int number) {
    return fmt::format("{}", number);
}

/// A key that is one field of the chip.
template <auto Field>
bool same_field(const ChipSpec& a, const ChipSpec& b, IciRates /*rates*/) {
    return (a.*Field).value == (b.*Field).value;
}
template <auto Field>
std::string text_of_field(const ChipSpec& chip, IciRates /*rates*/) {
    return words((chip.*Field).value);
}
template <auto Field>
constexpr ChipKey plain(std::string_view name) {
    return {name, {}, nullptr, same_field<Field>};
}
template <auto Field>
constexpr ChipKey rate(std::string_view name, std::span<const std::string_view> factors) {
    return {name, factors, text_of_field<Field>, same_field<Field>};
}

std::string link_rate(const ChipSpec& chip, IciRates rates) {
    return words(chip.ici_one_way(rates));
}
bool same_link_rate(const ChipSpec& a, const ChipSpec& b, IciRates rates) {
    return a.ici_one_way(rates) == b.ici_one_way(rates);
}

constexpr std::array kChipKeys{
    rate<&ChipSpec::bf16_flops>("bf16_flops", kOfMatmuls),
    rate<&ChipSpec::int8_ops>("int8_ops", kOfEightBits),
    rate<&ChipSpec::fp8_flops>("fp8_flops", kOfEightBits),
    rate<&ChipSpec::vpu_flops>("vpu_flops", kOfVectors),
    rate<&ChipSpec::vmem>("vmem", kOfVmem),
    rate<&ChipSpec::mxu_dimension>("mxu", kOfMatmuls),
    plain<&ChipSpec::hbm_capacity>("hbm_capacity"),
    plain<&ChipSpec::hbm_reserved>("hbm_reserved"),
    rate<&ChipSpec::hbm_bandwidth>("hbm_bandwidth", kOfHbm),
    ChipKey{"ici_one_way", kOfIci, link_rate, same_link_rate},
    plain<&ChipSpec::ici_latency>("ici_latency"),
    plain<&ChipSpec::pcie_one_way>("pcie_one_way"),
    plain<&ChipSpec::pcie_latency>("pcie_latency"),
    rate<&ChipSpec::dcn_per_host>("dcn_per_host", kOfDcn),
    plain<&ChipSpec::dcn_latency>("dcn_latency"),
    plain<&ChipSpec::host_shape>("host"),
    plain<&ChipSpec::pod_shape>("pod"),
    plain<&ChipSpec::wraparound>("wraparound"),
};

std::vector<std::string_view> names_of(std::span<const ChipKey* const> keys) {
    std::vector<std::string_view> names;
    std::ranges::transform(keys, std::back_inserter(names), &ChipKey::name);
    return names;
}

/// True if the profile's name says whose factors it has: `measured on v5p with mxu 0.8`, from a
/// map, does; `measured` and the name of a file do not.
bool says_whose(const Hardware& hardware) {
    return hardware.profile_version.empty();
}

}  // namespace

std::span<const ChipKey> chip_keys() {
    return kChipKeys;
}

const topology::ChipSpec& base_chip(const Hardware& hardware) {
    return topology::find_chip(hardware.base.empty() ? hardware.chip.name : hardware.base);
}

std::vector<const ChipKey*> changed_keys(const Hardware& hardware) {
    std::vector<const ChipKey*> changed;
    if (hardware.base.empty()) {
        return changed;
    }
    const ChipSpec& base = base_chip(hardware);
    for (const ChipKey& key : kChipKeys) {
        if (!key.same(hardware.chip, base, hardware.ici_rates)) {
            changed.push_back(&key);
        }
    }
    return changed;
}

std::string profile_name(const Hardware& hardware) {
    const std::vector<const ChipKey*> changed = changed_keys(hardware);
    if (changed.empty() || hardware.profile == "ideal") {
        return hardware.profile;
    }
    return fmt::format("{}{}; changed: {}", hardware.profile,
                       says_whose(hardware) ? "" : " on " + hardware.base,
                       fmt::join(names_of(changed), ", "));
}

std::string profile_label(const Hardware& hardware) {
    const std::string name = profile_name(hardware);
    const std::string& version = hardware.profile_version;
    return version.empty()            ? name
           : name == hardware.profile ? fmt::format("{}@{}", name, version)
                                      : fmt::format("{} (version {})", name, version);
}

std::string measured_elsewhere(const Hardware& hardware, std::string_view factor) {
    std::vector<std::string> places;
    for (const ChipKey* const key : changed_keys(hardware)) {
        if (std::ranges::find(key->factors, factor) != key->factors.end()) {
            places.push_back(fmt::format("{} {}", key->name,
                                         key->text(base_chip(hardware), hardware.ici_rates)));
        }
    }
    return places.empty() ? ""
                          : fmt::format("measured at {}, which the scenario changes",
                                        fmt::join(places, " and "));
}

std::vector<std::string> profile_warnings(const Hardware& hardware) {
    const std::vector<const ChipKey*> changed = changed_keys(hardware);
    if (changed.empty() || hardware.profile == "ideal" || says_whose(hardware)) {
        return {};
    }
    std::vector<std::string> places;
    for (const ChipKey* const key : changed) {
        if (!key->factors.empty()) {
            places.push_back(
                fmt::format("{} {} at {} {}", fmt::join(key->factors, ", "),
                            key->factors.size() == 1 ? "was measured" : "were measured", key->name,
                            key->text(base_chip(hardware), hardware.ici_rates)));
        }
    }
    return {
        fmt::format("the chip is {} with another {}: the factors of profile {}@{} stay those of "
                    "{}, and no error "
                    "band holds{}{}",
                    hardware.base, fmt::join(names_of(changed), ", "), hardware.profile,
                    hardware.profile_version, hardware.base, places.empty() ? "" : "; ",
                    fmt::join(places, "; "))};
}

}  // namespace podsim::scenarios
