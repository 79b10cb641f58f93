// The division of the array among axis orders: two small exact optimisations by enumeration.
//
// Let load(a, o) be the link time per byte that factor a spends on a part of order o. The weights w
// minimise t = max over a of sum over o of w(o) load(a, o), with w >= 0 and sum w = 1. Groups have
// at most a few factors, so the vertices of this linear program are enumerated. If all loads can be
// equal, t is optimal, and the solution of least norm is taken: it spreads the array over all
// orders, which keeps every axis busy from the first chunk to the last.
#pragma once

#include <vector>

namespace podsim::collectives {

/// load[a][o], scaled so that its largest entry is 1.
using LoadTable = std::vector<std::vector<double>>;

/// Returns the weights w, one for each order. Rounding may make them miss 0.
std::vector<double> order_weights(const LoadTable& load);

}  // namespace podsim::collectives
