#include "scenarios/cli/ends_options.h"

#include <fmt/format.h>

#include "scenarios/load/collective_ends.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

using collectives::Operation;

/// Which operations have an option, and what the message calls them.
struct Owner {
    const char* option;
    const char* operations;
    bool (*has)(Operation);
};
constexpr Owner kOwners[] = {
    {"axes", "every operation but send", [](Operation o) { return o != Operation::send; }},
    {"shift", "permute", [](Operation o) { return o == Operation::permute; }},
    {"root", "broadcast, gather and scatter", collectives::is_rooted},
    {"from", "send", [](Operation o) { return o == Operation::send; }},
    {"to", "send", [](Operation o) { return o == Operation::send; }},
};

}  // namespace

collectives::Ends read_ends(const Usage& options, const CollectiveRequest& request) {
    for (const Owner& owner : kOwners) {
        if (options.has(owner.option) && !owner.has(request.operation)) {
            throw sim::InputError(fmt::format("--{} does not go with --op {}", owner.option,
                                              collectives::to_string(request.operation)),
                                  fmt::format("it is for {}", owner.operations));
        }
    }
    const auto chip = [&](const std::string& option) {
        return read_option(options, option, [&](const std::string& text) {
            return parse_chip(text, request.hardware);
        });
    };
    collectives::Ends ends;
    if (options.has("shift")) {
        ends.shift = read_option(options, "shift", [&](const std::string& text) {
            return parse_shift(text, request.members.group);
        });
    }
    if (request.operation == Operation::send) {
        ends.root = chip("from");
        ends.to = chip("to");
        if (ends.root == ends.to) {
            throw sim::InputError("--from and --to name the same chip", "name two chips");
        }
    } else if (collectives::is_rooted(request.operation)) {
        ends.root = chip("root");
    }
    return ends;
}

}  // namespace podsim::scenarios
