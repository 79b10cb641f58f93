// Reads quantities as text: the first byte selects one, the rest is read. An accepted quantity is a
// number in its range, and reads the same from its text by exact_text.
#include <cmath>

#include "scenarios/src/base/exact_text.h"
#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/size_range.h"
#include "sim/base/error.h"
#include "tests/fuzz/memory_file.h"

namespace {

using namespace podsim;

template <class T, class Parse>
void reads_again(const T& value, Parse parse) {
    const std::string text = scenarios::exact_text(value, parse);
    fuzz::must(text.empty() || parse(text) == value);
}

template <class T>
void quantity(T value, T (*parse)(std::string_view), bool infinite) {
    fuzz::must(value.value() >= 0 && (infinite || std::isfinite(value.value())));
    reads_again(value, parse);
}

void number(double value, double (*parse)(std::string_view), double least) {
    fuzz::must(value >= least);
    reads_again(value, parse);
}

void sizes(std::string_view text) {
    const std::vector<sim::Bytes> all = scenarios::parse_sizes(text);
    fuzz::must(!all.empty() && all.size() <= scenarios::kMostSizes);
    for (std::size_t i = 0; i < all.size(); ++i) {
        fuzz::must(all[i].value() > 0 && (i == 0 || all[i - 1].value() < all[i].value()));
    }
}

void read_one(unsigned kind, std::string_view text) {
    switch (kind % 12) {
        case 0:
            return quantity(scenarios::parse_bytes(text), scenarios::parse_bytes, false);
        case 1:
            return quantity(scenarios::parse_bytes_or_number(text),
                            scenarios::parse_bytes_or_number, false);
        case 2:
            return quantity(scenarios::parse_rate(text), scenarios::parse_rate, true);
        case 3:
            return quantity(scenarios::parse_time(text), scenarios::parse_time, false);
        case 4:
            return quantity(scenarios::parse_flops_rate(text), scenarios::parse_flops_rate, false);
        case 5:
            fuzz::must(scenarios::parse_count(text) >= 0);
            return reads_again(scenarios::parse_count(text), scenarios::parse_count);
        case 6:
            return number(scenarios::parse_number(text), scenarios::parse_number, 0);
        case 7:
            return number(scenarios::parse_multiple(text), scenarios::parse_multiple, 1);
        case 8:
            return number(scenarios::parse_percent(text), scenarios::parse_percent, 0);
        case 9:
            return number(scenarios::parse_price(text), scenarios::parse_price, 0);
        case 10:
            return number(scenarios::parse_token_rate(text), scenarios::parse_token_rate, 0);
        default:
            return sizes(text);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    try {
        read_one(data[0], fuzz::text_of(data + 1, size - 1));
    } catch (const sim::InputError& error) {
        fuzz::must(!error.problem().empty());
    }
    return 0;
}
