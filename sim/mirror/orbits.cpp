#include "sim/mirror/orbits.h"

#include <algorithm>
#include <utility>

#include "sim/mirror/images.h"

namespace podsim::sim {
namespace {

/// Whether no two of the mirrors move a port.
bool move_different_ports(const Orbits& orbits, std::size_t ports) {
    for (std::uint32_t port = 0; port < ports; ++port) {
        if (std::ranges::count_if(orbits.turning, [&](std::size_t mirror) {
                return orbits.mirrors[mirror]->port[port] != port;
            }) > 1) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::optional<Orbits> orbits_of(const Machine& machine, std::vector<const Mirror*> mirrors) {
    Orbits orbits;
    orbits.mirrors = std::move(mirrors);
    for (std::size_t i = 0; i < orbits.mirrors.size(); ++i) {
        (moves_places(*orbits.mirrors[i]) ? orbits.moving : orbits.turning).push_back(i);
    }
    if (!move_different_ports(orbits, machine.ports)) {
        return std::nullopt;
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
    const auto kept = [&](std::uint32_t port) {
        for (const std::size_t mirror : orbits.turning) {
            port = std::min(port, orbits.mirrors[mirror]->port[port]);
        }
        return port;
    };
    for (std::uint32_t element = 0; element < elements; ++element) {
        std::vector<std::uint32_t>& ports = orbits.ports.emplace_back();
        for (std::uint32_t port = 0; port < machine.ports; ++port) {
            ports.push_back(kept(image(element, port, &Mirror::port)));
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
