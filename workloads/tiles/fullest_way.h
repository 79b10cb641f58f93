// What the fullest of several ways has, where each of so many items falls to it by chance.
//
// Ways that hold whole experts wait for each other behind every layer, so that a step takes as long as the fullest of them. Of
// `ways` counts, each binomial with n trials of chance p and apart from each other, the largest is in the mean
//   sum over j >= 1 of 1 - P(count < j)^ways
// (exactly, where the variance is below 9; beyond it of normal counts: n p + c(ways) sqrt(n p (1 - p)), c the mean of the largest of
// so many normal ones). Counts of ways that share their items are not quite apart, nor are the experts of one token: the largest of 8 ways
// with 16 experts each, of which a token takes 8, has 2.6, 6.0 and 13.0 of them met by 1, 4 and 16 tokens here, and 2.55, 6.16 and 12.9 in
// draws.
#pragma once

namespace podsim::workloads {

/// At most `trials`, at least their mean; the mean itself of a single way. Linear between whole numbers of trials.
double fullest_of(double ways, double trials, double chance);

}  // namespace podsim::workloads
