// Marks rows of a sweep that take longer than another row in which only one resource is slower.
//
// A row is compared with the quickest of those in which one resource is slower (a rate or fraction
// that is lower, a latency that is higher), with all other keys alike. A faster resource alone can
// give a slower step if operations come in another order at shared links and memory. The difference
// of the rows is then the noise of orders (order_noise.h), and no property of the resource.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/src/study/sweep.h"

namespace podsim::scenarios {

/// Returns a mark by row: `7.2 % slower than with 180GB/s`, for the key with the largest excess, if
/// this is more than kOrderNoiseToTell; otherwise empty. Rows that are refused, or differ in
/// look-ahead, are not compared: memory decides then.
std::vector<std::string> slower_marks(std::span<const SweepRow> rows, const Sweep& sweep);

}  // namespace podsim::scenarios
