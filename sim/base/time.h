// The kernel's clock: whole picoseconds in 64 bits (106 days), in a type of its own.
//
// Rates stay real numbers. A duration is rounded up to a picosecond once, when it is scheduled, so
// that no simulated time falls below its lower bound.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "sim/base/quantity.h"

namespace podsim::sim {

/// Thrown if a simulated duration or clock would leave the 64-bit range (106 days).
class TimeOverflow : public std::overflow_error {
public:
    TimeOverflow() : std::overflow_error("the simulated time exceeds 106 days (2^63 ps)") {}
};

/// Stays out of line to keep sums and products small enough for inlining.
[[noreturn, gnu::noinline, gnu::cold]] inline void throw_time_overflow() {
    throw TimeOverflow();
}

/// A point in simulated time or a span of it, in picoseconds since the start of the run. Sums and
/// products throw TimeOverflow if they leave the range.
struct Time {
    std::int64_t ps = 0;

    [[nodiscard]] constexpr double seconds() const { return static_cast<double>(ps) / 1e12; }
    static constexpr Time max() { return {std::numeric_limits<std::int64_t>::max()}; }

    constexpr Time& operator+=(Time other) { return *this = *this + other; }
    constexpr Time& operator-=(Time other) {
        ps -= other.ps;
        return *this;
    }
    friend constexpr Time operator+(Time a, Time b) {
        Time sum;
        if (__builtin_add_overflow(a.ps, b.ps, &sum.ps)) {
            throw_time_overflow();
        }
        return sum;
    }
    friend constexpr Time operator*(Time a, std::int64_t count) {
        Time product;
        if (__builtin_mul_overflow(a.ps, count, &product.ps)) {
            throw_time_overflow();
        }
        return product;
    }
    friend constexpr Time operator-(Time a, Time b) { return {a.ps - b.ps}; }
    friend constexpr bool operator==(Time, Time) = default;
    friend constexpr auto operator<=>(Time, Time) = default;
    // Compare integers directly: g++ 12 generates more code for the three-way comparison, in every
    // hop.
    friend constexpr bool operator<(Time a, Time b) { return a.ps < b.ps; }
    friend constexpr bool operator<=(Time a, Time b) { return a.ps <= b.ps; }
    friend constexpr bool operator>(Time a, Time b) { return a.ps > b.ps; }
    friend constexpr bool operator>=(Time a, Time b) { return a.ps >= b.ps; }
};

/// Returns the smallest whole number of picoseconds that is not below `picoseconds`. Throws
/// TimeOverflow beyond the clock's range and for NaN; a negative duration is a bug of the caller.
inline Time whole_picoseconds(double picoseconds) {
    if (!(picoseconds < 9.2e18)) {
        throw TimeOverflow();
    }
    auto whole = static_cast<std::int64_t>(picoseconds);
    if (static_cast<double>(whole) < picoseconds) {
        ++whole;
    }
    return {whole};
}

/// Rounds a duration up: the one rounding between real numbers and the clock.
inline Time round_up(Seconds duration) {
    return whole_picoseconds(duration.value() * 1e12);
}

/// Rounds a duration down, by its decimal form: a duration that prints as whole picoseconds keeps
/// that number, even if its binary value lies slightly below.
inline Time round_down(Seconds duration) {
    const std::int64_t up = round_up(duration).ps;
    for (const std::int64_t whole : {up, up - 1}) {
        if (static_cast<double>(whole) / 1e12 == duration.value()) {
            return {whole};
        }
    }
    return {static_cast<std::int64_t>(static_cast<long double>(duration.value()) * 1e12L)};
}

/// Returns `factor` times the duration, rounded up again.
inline Time slowed(Time duration, double factor) {
    return whole_picoseconds(static_cast<double>(duration.ps) * factor);
}

}  // namespace podsim::sim
