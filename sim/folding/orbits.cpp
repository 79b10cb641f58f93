#include "sim/folding/orbits.h"

#include <numeric>
#include <utility>

#include "sim/folding/images.h"

namespace podsim::sim {
namespace {

/// Returns [port]: its first image under all products of the mirrors that move no places.
std::vector<std::uint32_t> kept_ports(const Orbits& orbits, std::size_t ports) {
    std::vector<std::uint32_t> kept(ports);
    std::iota(kept.begin(), kept.end(), 0U);
    for (bool changes = true; changes;) {
        changes = false;
        for (const std::size_t mirror : orbits.turning) {
            changes = lower_to_images(kept, orbits.mirrors[mirror]->port) || changes;
        }
    }
    return kept;
}

}  // namespace

std::optional<Orbits> orbits_of(const Machine& machine, std::vector<const Mirror*> mirrors) {
    Orbits orbits;
    orbits.mirrors = std::move(mirrors);
    for (std::size_t i = 0; i < orbits.mirrors.size(); ++i) {
        (moves_places(*orbits.mirrors[i]) ? orbits.moving : orbits.turning).push_back(i);
    }
    const std::uint32_t elements = 1U << orbits.moving.size();
    const auto image = [&](std::uint32_t element, std::uint32_t number,
                           std::vector<std::uint32_t> Mirror::*what) {
        for (std::size_t i = 0; i < orbits.moving.size(); ++i) {
            number = (element >> i & 1U) != 0 ? (orbits.mirrors[orbits.moving[i]]->*what)[number]
                                              : number;
        }
        return number;
    };
    const std::vector<std::uint32_t> kept = kept_ports(orbits, machine.ports);
    for (std::uint32_t element = 0; element < elements; ++element) {
        std::vector<std::uint32_t>& ports = orbits.ports.emplace_back();
        for (std::uint32_t port = 0; port < machine.ports; ++port) {
            ports.push_back(kept[image(element, port, &Mirror::port)]);
        }
    }
    orbits.number.resize(machine.places);
    for (std::uint32_t place = 0; place < machine.places; ++place) {
        std::uint32_t least = place;
        std::uint32_t by = 0;
        for (std::uint32_t element = 1; element < elements; ++element) {
            const std::uint32_t seen = image(element, place, &Mirror::place);
            if (seen == place) {
                return std::nullopt;
            }
            if (seen < least) {
                least = seen;
                by = element;
            }
        }
        orbits.element.push_back(by);
        orbits.representative.push_back(least);
        if (least == place) {
            orbits.number[place] = static_cast<std::uint32_t>(orbits.kept.size());
            orbits.kept.push_back(place);
        }
    }
    for (std::uint32_t place = 0; place < machine.places; ++place) {
        orbits.number[place] = orbits.number[orbits.representative[place]];
    }
    return orbits;
}

}  // namespace podsim::sim
