// What a scenario asks of a search: its section `search`, and the names of what may vary.
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
    cost,       ///< the fewest dollars a token, by report.price
    chips,      ///< the fewest chips, of these the shortest step
};

struct SearchSection {
    SearchObjective objective = SearchObjective::step_time;
    /// Share of the HBM that is to stay free. Without it a plan fits up to what the account of memory is true to (explain/memory.h).
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
/// remat, prefetch, overlap, schedule, microbatches, weights; `mesh` and `slice` besides.
const std::vector<OverName>& over_names();
/// All that `over` may name.
std::vector<std::string> names_of_over();
/// What is wrong with `over: mesh,remat`, and what to write.
inline constexpr const char* kSeveralOver = "several names in one text";
inline constexpr const char* kListOfOver = "write a list, such as [mesh, remat]";
/// What is searched where nothing says it: of a step of training, or of inference.
std::vector<std::string> usual_over(bool inference);

}  // namespace podsim::scenarios
