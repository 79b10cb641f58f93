// Text for people: numbers with units at four significant digits, aligned tables, quoted user
// input.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

/// User input fit for a message: control characters escaped, cut after 60 bytes.
std::string printable(std::string_view text);
/// The same in quotes.
std::string in_quotes(std::string_view text);

/// A message in one line, whatever the input put into it.
std::string one_line(std::string_view message);

/// `2.345 s`, `12.30 ms`, `1.000 us`, `0 s`.
std::string format_time(double seconds);
/// `95.00 GB`, `1.500 TB`: decimal prefixes.
std::string format_bytes(sim::Bytes bytes);
/// `90.00 GB/s`, `inf`.
std::string format_rate(sim::BytesPerSecond rate);
/// `459.0 TFLOP/s`.
std::string format_flops_rate(sim::FlopsPerSecond rate);
/// `1.789M`, `4.194M`: k, M, G, T, P as in the input.
std::string format_count(double count);
/// `45.60 %`.
std::string format_percent(double fraction);

/// Rows whose cells stand in columns: the first column flush left, the others flush right unless
/// they are marked as text.
class Table {
public:
    /// `text_columns` holds the indices of columns beyond the first that are flush left.
    explicit Table(std::vector<std::size_t> text_columns = {})
        : text_columns_(std::move(text_columns)) {}

    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    /// Every row on a line of its own, indented by `indent`, columns two blanks apart.
    [[nodiscard]] std::string text(int indent) const;

private:
    std::vector<std::size_t> text_columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// Whole parts that add up to `total`, in proportion to `weights` (which add up to more than zero):
/// each is rounded down, and the largest remainders get what is left, so that a printed column adds
/// up to its sum. Negative weights are allowed.
std::vector<std::int64_t> apportion(std::span<const double> weights, std::int64_t total);

}  // namespace podsim::scenarios
