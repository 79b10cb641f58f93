#include "scenarios/study/sweep_shard.h"

#include <fmt/format.h>

#include "scenarios/text/quantity_text.h"
#include "scenarios/text/quote.h"
#include "sim/base/error.h"

namespace podsim::scenarios {

SweepShard parse_shard(const std::string& text) {
    const auto refuse = [&] {
        return sim::InputError(
            fmt::format("{} is no shard", in_quotes(text)),
            fmt::format("write i/n, as in 3/16: i from 0 to n - 1, n at most {}", kMostShards));
    };
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) {
        throw refuse();
    }
    std::int64_t number = 0;
    std::int64_t of = 0;
    try {
        number = parse_count(text.substr(0, slash));
        of = parse_count(text.substr(slash + 1));
    } catch (const sim::InputError&) {
        throw refuse();
    }
    if (number < 0 || of < 1 || number >= of || of > static_cast<std::int64_t>(kMostShards)) {
        throw refuse();
    }
    return {static_cast<std::size_t>(number), static_cast<std::size_t>(of)};
}

}  // namespace podsim::scenarios
