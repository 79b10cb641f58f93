#include "scenarios/src/report/parts_json.h"

namespace podsim::scenarios {

Json shares_json(std::span<const Share> shares) {
    Json object = Json::object();
    for (const Share& share : shares) {
        object[share.name] = decimal_seconds(share.time);
    }
    return object;
}

Json links_json(std::span<const LinkUse> links) {
    Json object = Json::object();
    for (const LinkUse& link : links) {
        object[link.name] = {{"busy_fraction", link.busy_fraction},
                             {"bytes", link.bytes.value()},
                             {"busiest_busy_fraction", link.busiest_fraction},
                             {"busiest_bytes", link.busiest_bytes.value()}};
        for (const auto& [user, share] : link.by_user) {
            object[link.name]["busy_fraction_by"][user] = share;
        }
    }
    return object;
}

Json verdicts_json(std::span<const Verdict> verdicts) {
    Json list = Json::array();
    for (const Verdict& verdict : verdicts) {
        list.push_back({{"quantity", verdict.expectation.quantity},
                        {"analytic", verdict.analytic ? Json(verdict.value) : Json()},
                        {"simulated", verdict.analytic ? Json() : Json(verdict.value)},
                        {"reference", verdict.expectation.of},
                        {"error", verdict.error},
                        {"within", verdict.expectation.within},
                        {"holds", verdict.holds},
                        {"differs", differs(verdict.error, verdict.expectation.within)},
                        {"source", verdict.expectation.source}});
    }
    return list;
}

}  // namespace podsim::scenarios
