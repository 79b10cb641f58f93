// Strong types for real-valued quantities: bytes, FLOPs, seconds and their rates.
//
// A quantity is a double with a dimension. Only meaningful combinations compile: like quantities
// add and compare, any quantity scales by a number, and
//   Bytes / BytesPerSecond = Seconds      Flops / FlopsPerSecond = Seconds
//   Bytes / Seconds = BytesPerSecond      Flops / Seconds = FlopsPerSecond
// An infinite rate is allowed; it gives a duration of zero seconds.
#pragma once

#include <compare>
#include <limits>

namespace podsim::sim {

template <class Dimension>
class Quantity {
public:
    constexpr Quantity() = default;
    constexpr explicit Quantity(double value) : value_(value) {}

    /// Returns the bare number, in the base unit of the dimension (bytes, FLOPs, seconds, ... per
    /// second).
    [[nodiscard]] constexpr double value() const { return value_; }

    static constexpr Quantity infinity() {
        return Quantity(std::numeric_limits<double>::infinity());
    }

    constexpr Quantity& operator+=(Quantity other) {
        value_ += other.value_;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity other) {
        value_ -= other.value_;
        return *this;
    }
    constexpr Quantity& operator*=(double factor) {
        value_ *= factor;
        return *this;
    }

    friend constexpr Quantity operator+(Quantity a, Quantity b) {
        return Quantity(a.value_ + b.value_);
    }
    friend constexpr Quantity operator-(Quantity a, Quantity b) {
        return Quantity(a.value_ - b.value_);
    }
    friend constexpr Quantity operator*(Quantity a, double b) { return Quantity(a.value_ * b); }
    friend constexpr Quantity operator*(double a, Quantity b) { return Quantity(a * b.value_); }
    friend constexpr Quantity operator/(Quantity a, double b) { return Quantity(a.value_ / b); }
    /// Returns the ratio of two like quantities, a bare number.
    friend constexpr double operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }
    friend constexpr auto operator<=>(Quantity, Quantity) = default;

private:
    double value_ = 0;
};

using Bytes = Quantity<struct BytesDimension>;
using Flops = Quantity<struct FlopsDimension>;
using Seconds = Quantity<struct SecondsDimension>;
using BytesPerSecond = Quantity<struct BytesPerSecondDimension>;
using FlopsPerSecond = Quantity<struct FlopsPerSecondDimension>;

constexpr Seconds operator/(Bytes amount, BytesPerSecond rate) {
    return Seconds(amount.value() / rate.value());
}
constexpr Seconds operator/(Flops amount, FlopsPerSecond rate) {
    return Seconds(amount.value() / rate.value());
}
constexpr BytesPerSecond operator/(Bytes amount, Seconds time) {
    return BytesPerSecond(amount.value() / time.value());
}
constexpr FlopsPerSecond operator/(Flops amount, Seconds time) {
    return FlopsPerSecond(amount.value() / time.value());
}

}  // namespace podsim::sim
