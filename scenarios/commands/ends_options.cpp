#include "scenarios/commands/ends_options.h"

#include <fmt/format.h>

#include "collectives/catalogue/operations.h"
#include "scenarios/spec/collective_ends.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

using collectives::EndsTaken;

/// Which operations have an option, and what the message calls them.
struct Owner {
    const char* option;
    const char* operations;
    bool (*has)(EndsTaken);
};
constexpr Owner kOwners[] = {
    {"axes", "every operation but send", [](EndsTaken e) { return e != EndsTaken::two_chips; }},
    {"shift", "permute", [](EndsTaken e) { return e == EndsTaken::shift; }},
    {"root", "broadcast, gather and scatter", [](EndsTaken e) { return e == EndsTaken::root; }},
    {"from", "send", [](EndsTaken e) { return e == EndsTaken::two_chips; }},
    {"to", "send", [](EndsTaken e) { return e == EndsTaken::two_chips; }},
};

}  // namespace

collectives::Ends read_ends(const Usage& options, const CollectiveRequest& request) {
    const EndsTaken taken = collectives::info(request.operation).ends;
    for (const Owner& owner : kOwners) {
        if (options.has(owner.option) && !owner.has(taken)) {
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
    if (taken == EndsTaken::two_chips) {
        ends.root = chip("from");
        ends.to = chip("to");
        if (ends.root == ends.to) {
            throw sim::InputError("--from and --to name the same chip", "name two chips");
        }
    } else if (taken == EndsTaken::root) {
        ends.root = chip("root");
    }
    return ends;
}

}  // namespace podsim::scenarios
