// A set of enumerators.
#pragma once

#include <initializer_list>

namespace podsim::workloads {

/// Of an enumeration with at most 32 values, numbered from 0.
template <class Enum>
class EnumSet {
public:
    constexpr EnumSet() = default;
    constexpr EnumSet(std::initializer_list<Enum> values) {
        for (const Enum value : values) {
            add(value);
        }
    }
    constexpr void add(Enum value) { bits_ |= 1U << static_cast<unsigned>(value); }
    constexpr void remove(Enum value) { bits_ &= ~(1U << static_cast<unsigned>(value)); }
    [[nodiscard]] constexpr bool has(Enum value) const {
        return (bits_ >> static_cast<unsigned>(value) & 1U) != 0;
    }
    [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
    friend constexpr EnumSet operator|(EnumSet a, EnumSet b) {
        a.bits_ |= b.bits_;
        return a;
    }
    friend constexpr EnumSet operator&(EnumSet a, EnumSet b) {
        a.bits_ &= b.bits_;
        return a;
    }
    friend constexpr EnumSet operator-(EnumSet a, EnumSet b) {
        a.bits_ &= ~b.bits_;
        return a;
    }
    friend constexpr bool operator==(EnumSet, EnumSet) = default;

private:
    unsigned bits_ = 0;
};

}  // namespace podsim::workloads
