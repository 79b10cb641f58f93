// The request that a scenario makes to a search: its section `search`, and the names of what may
// vary.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podsim::scenarios {

enum class SearchObjective {
    step_time,  ///< the shortest step
    mfu,        ///< the highest MFU
    cost,       ///< fewest dollars per token, by report.price
    chips,      ///< fewest chips; among these the shortest step
};

struct SearchSection {
    SearchObjective objective = SearchObjective::step_time;
    /// Fraction of the HBM that is to stay free. Without it a plan fits up to the accuracy of the
    /// memory account (simulate/memory.h).
    std::optional<double> memory_margin{};
    std::optional<double> deadline_s{};  ///< steps that take longer are not wanted
    std::int64_t least_tokens = 0;       ///< of a batch
    std::optional<double> budget_usd{};  ///< for report.tokens
};

/// A name of `over`: the key that it varies, and its values.
struct OverName {
    std::string_view name;
    std::string_view key;
    std::vector<std::string> values;
};
/// Returns remat, prefetch, overlap, schedule, microbatches, weights. The names `mesh` and `slice`
/// exist in addition.
const std::vector<OverName>& over_names();
/// Returns all names that `over` may hold.
std::vector<std::string> names_of_over();
/// The error of `over: mesh,remat`, and its remedy.
inline constexpr const char* kSeveralOver = "several names in one text";
inline constexpr const char* kListOfOver = "write a list, such as [mesh, remat]";
/// Returns the names that are searched by default, for a step of training or of inference.
std::vector<std::string> usual_over(bool inference);

}  // namespace podsim::scenarios
