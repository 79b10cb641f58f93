// Rows of a sweep that take longer than another of which one resource alone is slower.
//
// A row is compared with the quickest of those in which one resource is slower (a rate or share that is lower, a latency that is higher), all
// other keys alike. A faster resource alone gives a slower step where operations come in another order at links and memory that they share: by
// which the rows differ is the noise of orders (order_noise.h), and no property of the resource.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/study/sweep.h"

namespace podsim::scenarios {

/// By row: `7.2 % slower than with 180GB/s`, the largest of its keys, where that is more than kOrderNoiseToTell; else empty. Rows that are
/// refused, or do another look-ahead, are not compared: memory decides then.
std::vector<std::string> slower_marks(std::span<const SweepRow> rows, const Sweep& sweep);

}  // namespace podsim::scenarios
