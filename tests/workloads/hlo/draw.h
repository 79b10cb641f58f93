// Random draws for modules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace podsim::workloads::hlo {

/// Draws that are the same on every machine, unlike those of the standard's distributions.
class Draw {
public:
    explicit Draw(std::uint32_t seed) : random_(seed) {}

    /// Returns a number from 0 to count - 1.
    std::size_t below(std::size_t count) { return random_() % count; }
    bool once_in(std::size_t count) { return below(count) == 0; }
    template <class List>
    const auto& of(const List& list) {
        return list[below(list.size())];
    }

private:
    std::mt19937 random_;
};

}  // namespace podsim::workloads::hlo
