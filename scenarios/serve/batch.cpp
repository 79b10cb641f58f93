#include "scenarios/serve/batch.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <string>

#include "scenarios/serve/step_cost.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// A decode step reads one for every sequence that it is compiled for.
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
    // A prefix of all lies in pages of its own, once in every part.
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

Batch::Batch(const ServingSpec& spec, WaitingLine& line, WaitingLine& back)
    : line_(line),
      back_(back),
      cache_spec_(spec.cache),
      cache_(spec.cache.pages),
      slots_(spec.batching.slots),
      drafted_(spec.speculation.tokens),
      reserve_(spec.cache.reserve || spec.batching.kind == BatchingKind::fixed),
      common_pages_(
          spec.cache.pages_for(spec.load.common_prefix / spec.cache.page * spec.cache.page) *
          spec.cache.parts) {
    if (!cache_.take(common_pages_)) {
        throw std::logic_error("serving: the common prefix is larger than the cache");
    }
}

std::int64_t Batch::own_pages(const Sequence& sequence, std::int64_t tokens) const {
    return cache_spec_.pages_for(tokens - sequence.shared);
}

Sequence* Batch::admit_front(std::int64_t cached_then) {
    if (line_.empty() || static_cast<std::int64_t>(running_.size() + held_.size()) == slots_) {
        return nullptr;
    }
    Sequence& sequence = line_.front();
    const std::int64_t tokens =
        reserve_ ? most_cached(sequence.prompt, sequence.output, drafted_) : cached_then;
    const std::int64_t pages = own_pages(sequence, tokens);
    if (!cache_.take(pages)) {
        return nullptr;
    }
    sequence.pages = pages;
    sequence.running = true;
    line_.pop();
    running_.push_back(&sequence);
    admitted_.push_back(&sequence);
    return &sequence;
}

bool Batch::grow(Sequence& sequence, std::int64_t cached_then) {
    const std::int64_t more = own_pages(sequence, cached_then) - sequence.pages;
    if (more <= 0) {
        return true;
    }
    if (!cache_.take(more)) {
        return false;
    }
    sequence.pages += more;
    return true;
}

Sequence& Batch::victim() const {
    return **std::ranges::max_element(running_, EarlierTurn{});
}

void Batch::give_up(Sequence& sequence) {
    cache_.give_back(sequence.pages);
    sequence.pages = 0;
    sequence.running = false;
}

void Batch::preempt(Sequence& sequence) {
    leave(sequence);
    sequence.cached = sequence.prefix;
    sequence.ticket = sequence.request;
    sequence.preempted = true;
    preempted_.push_back(&sequence);
    back_.push(sequence);
}

void Batch::leave(Sequence& sequence) {
    give_up(sequence);
    std::erase(running_, &sequence);
}

void Batch::hold(Sequence& sequence) {
    std::erase(running_, &sequence);
    held_.push_back(&sequence);
}

void Batch::release_held() {
    for (Sequence* sequence : held_) {
        give_up(*sequence);
    }
    held_.clear();
}

}  // namespace podsim::scenarios
