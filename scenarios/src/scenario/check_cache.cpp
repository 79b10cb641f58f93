#include "scenarios/src/scenario/check_cache.h"

#include <bit>
#include <fmt/format.h>
#include <string>

#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// Refuses a cache without room for the buffers of a decode step: one for every sequence for which
/// it is compiled.
void check_buffers(const ServingSpec& spec) {
    const std::int64_t buffers = padded(spec.batching.slots, spec.batching);
    const std::int64_t pages = buffers * spec.cache.pages_for(spec.cache.length);
    if (pages > *spec.cache.pages) {
        throw sim::InputError(
            fmt::format("{} buffer{} of {} tokens need{} {} pages of {} tokens, the cache of a "
                        "server has {}",
                        buffers, buffers == 1 ? "" : "s", spec.cache.length,
                        buffers == 1 ? "s" : "", pages, spec.cache.page, *spec.cache.pages),
            "write fewer slots, a smaller cache.length, or more memory");
    }
}

}  // namespace

std::int64_t padded(std::int64_t decoding, const BatchingSpec& batching) {
    if (decoding == 0) {
        return 0;
    }
    switch (batching.padding) {
        case Padding::none:
            return decoding;
        case Padding::power_of_two:
            return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(decoding)));
        case Padding::slots:
            break;
    }
    return batching.slots;
}

void check_cache(const ServingSpec& spec, std::span<const Request> requests) {
    if (!spec.cache.pages.has_value()) {
        return;
    }
    check_buffers(spec);
    const std::int64_t page = spec.cache.page;
    const std::int64_t there = *spec.cache.pages / spec.cache.parts;
    const std::string of_what =
        spec.cache.parts == 1
            ? "the cache of a server has"
            : fmt::format("each of the {} parts of a server's cache has", spec.cache.parts);
    // A common prefix has its own pages, once in every part of the cache.
    const std::int64_t common_tokens = spec.load.common_prefix / page * page;
    const std::int64_t common = spec.cache.pages_for(common_tokens);
    if (common > there) {
        throw sim::InputError(
            fmt::format("the prefix of {} tokens needs {} pages of {} tokens, {} {}",
                        spec.load.common_prefix, common, page, of_what, there),
            "allow a shorter prefix, or more memory");
    }
    for (const Request& request : requests) {
        const std::int64_t most =
            most_cached(request.prompt, request.output, spec.speculation.tokens);
        const std::int64_t shared = common > 0 ? request.prefix / page * page : 0;
        const std::int64_t pages = spec.cache.pages_for(most - shared) + common;
        if (pages > there) {
            throw sim::InputError(
                fmt::format("a request of {} + {} tokens needs {} pages of {} tokens{}, {} {}",
                            request.prompt, request.output, pages, page,
                            common > 0 ? " with the prefix of all" : "", of_what, there),
                "allow shorter prompts and outputs, or more memory");
        }
    }
}

}  // namespace podsim::scenarios
