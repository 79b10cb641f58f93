#include "workloads/hlo/windows.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <numeric>
#include <string_view>
#include <utility>

namespace podsim::workloads::hlo {
namespace {

/// A key of a window. Its value has one number for each dimension, `1x3`, or two, `0_1x2_2`, of
/// which the first is read. A reversed dimension counts as others.
struct Written {
    std::string_view key;
    std::int64_t Window::*member = nullptr;
    bool two = false;
};
constexpr std::array<Written, 6> kWritten{{{"size", &Window::size},
                                           {"stride", &Window::stride},
                                           {"pad", &Window::pad_low, true},
                                           {"lhs_dilate", &Window::lhs_dilate},
                                           {"rhs_dilate", &Window::rhs_dilate},
                                           {"rhs_reversal"}}};

sim::InputError no_window(const Module& module, const Instruction& at, std::string_view what) {
    return module.error(at, fmt::format("a window of '{:.24}'", what),
                        "numbers of its dimensions stand as in size=3x3 and pad=1_1x0_0");
}

/// Takes a whole number from the beginning of a text.
std::int64_t take_number(const Module& module, const Instruction& at, std::string_view& text) {
    std::int64_t value = 0;
    const auto [behind, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc()) {
        throw no_window(module, at, text);
    }
    text.remove_prefix(static_cast<std::size_t>(behind - text.data()));
    return value;
}

bool take(std::string_view& text, char letter) {
    const bool there = text.starts_with(letter);
    text.remove_prefix(there ? 1 : 0);
    return there;
}

/// Returns the sum over 0 <= i < n of (a i + b) / m rounded down; a, b >= 0, and a n + b does not
/// overflow.
std::int64_t floor_sum(std::int64_t n, std::int64_t m, std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    while (n > 0) {
        sum += (n - 1) * n / 2 * (a / m) + n * (b / m);
        a %= m;
        b %= m;
        const std::int64_t last = a * n + b;
        n = last / m;
        b = last % m;
        std::swap(m, a);
    }
    return sum;
}

/// Returns the number of pairs 0 <= o < outputs, 0 <= w < size with o stride + w step <= most.
std::int64_t below(std::int64_t outputs, std::int64_t size, std::int64_t stride, std::int64_t step,
                   std::int64_t most) {
    if (most < 0) {
        return 0;
    }
    // For o < `whole` all w qualify; from there up to `some`, the first (most - o stride) / step +
    // 1 do.
    const std::int64_t rest = most - (size - 1) * step;
    const std::int64_t whole = rest < 0 ? 0 : std::min(outputs, rest / stride + 1);
    const std::int64_t some = std::min(outputs, most / stride + 1);
    const std::int64_t count = some - whole;
    return whole * size +
           (count > 0 ? count + floor_sum(count, step, stride, most - (some - 1) * stride) : 0);
}

/// Returns the number of i, 0 <= i < count, for which base + i step is a multiple of `dilate` from
/// 0 to `most`. `common` is g, the greatest common divisor of step and dilate; `inverse` is that of
/// step / g modulo dilate / g.
std::int64_t on_grid(std::int64_t base, std::int64_t step, std::int64_t count, std::int64_t most,
                     std::int64_t dilate, std::int64_t common, std::int64_t inverse) {
    if (base % common != 0) {
        return 0;
    }
    const std::int64_t period = dilate / common;
    const std::int64_t first = base >= 0 ? 0 : (-base + step - 1) / step;
    const std::int64_t last = most < base ? -1 : std::min(count - 1, (most - base) / step);
    const std::int64_t residue = ((-(base / common) % period + period) % period) * inverse % period;
    const std::int64_t from = first + ((residue - first) % period + period) % period;
    return from > last ? 0 : (last - from) / period + 1;
}

std::int64_t inverse_of(std::int64_t number, std::int64_t modulus) {
    std::int64_t a = number % modulus;
    std::int64_t b = modulus;
    std::int64_t x = 1;
    std::int64_t y = 0;
    while (b != 0) {
        const std::int64_t times = a / b;
        a = std::exchange(b, a - times * b);
        x = std::exchange(y, x - times * y);
    }
    return (x % modulus + modulus) % modulus;
}

}  // namespace

std::vector<Window> windows_of(const Module& module, const Instruction& at, std::size_t count) {
    std::vector<Window> all(count);
    std::array<bool, kWritten.size()> seen{};
    std::string_view window = at.find("window").value_or(std::string_view());
    while (window.find_first_not_of("{} ") != std::string_view::npos) {
        window.remove_prefix(window.find_first_not_of("{} "));
        std::string_view entry = window.substr(0, window.find_first_of(" }"));
        window.remove_prefix(entry.size());
        const std::string_view key = entry.substr(0, entry.find('='));
        const auto found = std::ranges::find(kWritten, key, &Written::key);
        if (found == kWritten.end()) {
            throw no_window(module, at, entry);
        }
        if (std::exchange(seen[static_cast<std::size_t>(found - kWritten.begin())], true)) {
            throw module.error(at, fmt::format("a window with {} twice", key));
        }
        entry.remove_prefix(std::min(key.size() + 1, entry.size()));
        std::size_t i = 0;
        for (; i == 0 || take(entry, 'x'); ++i) {
            const std::int64_t value = take_number(module, at, entry);
            if (found->two && take(entry, '_')) {
                take_number(module, at, entry);
            }
            if (i < count && found->member != nullptr) {
                all[i].*found->member = value;
            }
        }
        if (!entry.empty()) {
            throw no_window(module, at, entry);
        }
        if (i != count) {
            throw module.error(
                at,
                fmt::format("{} of {} dimensions in a window, of {} in dim_labels", key, i, count));
        }
    }
    if (count > 0 && !seen.front()) {
        throw module.error(
            at, fmt::format("a window without size, of {} dimensions in dim_labels", count));
    }
    return all;
}

void check(const Module& module, const Instruction& at, const Window& window, std::int64_t input,
           std::int64_t output) {
    constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
    const auto [least, most] =
        std::minmax({window.size, window.stride, window.lhs_dilate, window.rhs_dilate});
    if (least < 1 || std::max({most, input, output}) > kMost || window.pad_low > kMost ||
        window.pad_low < -kMost) {
        throw module.error(at, "a window that no convolution has");
    }
}

double meeting_steps(const Window& window, std::int64_t output) {
    constexpr double kOfRow = 10;
    return window.lhs_dilate == 1 ? kOfRow
                                  : kOfRow * static_cast<double>(std::min(window.size, output));
}

double meetings(const Window& window, std::int64_t input, std::int64_t output) {
    const auto& [size, stride, pad, dilate, step] = window;
    if (input == 0 || output == 0) {
        return 0;
    }
    const std::int64_t last = (input - 1) * dilate;
    if (dilate == 1) {
        return static_cast<double>(below(output, size, stride, step, pad + last) -
                                   below(output, size, stride, step, pad - 1));
    }
    // The longer side of the box is counted at once, for each index of the shorter one.
    const bool by_output = output <= size;
    const std::int64_t along = by_output ? step : stride;
    const std::int64_t across = by_output ? stride : step;
    const std::int64_t common = std::gcd(along, dilate);
    const std::int64_t inverse = inverse_of(along / common, dilate / common);
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < std::min(output, size); ++i) {
        count +=
            on_grid(i * across - pad, along, std::max(output, size), last, dilate, common, inverse);
    }
    return static_cast<double>(count);
}

}  // namespace podsim::workloads::hlo
