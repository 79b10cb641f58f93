// The sequences that a server has taken and their pages: who comes in, who grows, who has to go.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "scenarios/serve/page_cache.h"
#include "scenarios/serve/serving_spec.h"
#include "scenarios/serve/waiting_line.h"

namespace podsim::scenarios {

/// Throws sim::InputError unless a server's cache holds each of these requests alone, and where every slot has a buffer of its own those
/// that a decode step reads.
void check_cache(const ServingSpec& spec, std::span<const Request> requests);

class Batch {
public:
    /// `line` is where sequences come from, `back` where preempted ones go, whose prompts have to be computed again.
    Batch(const ServingSpec& spec, WaitingLine& line, WaitingLine& back);

    [[nodiscard]] const WaitingLine& line() const { return line_; }
    [[nodiscard]] const PageCache& cache() const { return cache_; }
    [[nodiscard]] const CacheSpec& cache_spec() const { return cache_spec_; }
    /// In the order in which they were taken.
    [[nodiscard]] const std::vector<Sequence*>& running() const { return running_; }
    /// Those that have ended, but whose slots and pages wait for the end of their batch.
    [[nodiscard]] const std::vector<Sequence*>& held() const { return held_; }
    /// Tokens that a decode step may add to a cache: one, and those drafted.
    [[nodiscard]] std::int64_t step_tokens() const { return 1 + drafted_; }

    /// Takes the first of the line, with pages for that many tokens in its cache (all it will ever need, where the cache
    /// reserves); nothing without one, a slot and the pages.
    Sequence* admit_front(std::int64_t cached_then);
    /// Pages for that many tokens in the sequence's cache; false, and nothing changes, where there are too few.
    [[nodiscard]] bool grow(Sequence& sequence, std::int64_t cached_then);
    /// Who goes when pages are short: of the lowest class the one that came last.
    [[nodiscard]] Sequence& victim() const;
    /// Its cache is lost but for the prefix, and it waits again.
    void preempt(Sequence& sequence);
    /// It has its answer, and leaves; or is held until release_held.
    void leave(Sequence& sequence);
    void hold(Sequence& sequence);
    void release_held();

    /// Those taken by admit_front since this was last called.
    [[nodiscard]] std::vector<Sequence*> take_admitted() { return std::exchange(admitted_, {}); }
    [[nodiscard]] std::vector<Sequence*> take_preempted() { return std::exchange(preempted_, {}); }
    /// Pages that hold the prefix of all, once.
    [[nodiscard]] std::int64_t common_pages() const { return common_pages_; }

private:
    [[nodiscard]] std::int64_t own_pages(const Sequence& sequence, std::int64_t tokens) const;
    void give_up(Sequence& sequence);

    WaitingLine& line_;
    WaitingLine& back_;
    CacheSpec cache_spec_;
    PageCache cache_;
    std::int64_t slots_;
    std::int64_t drafted_;
    bool reserve_;
    std::int64_t common_pages_;
    std::vector<Sequence*> running_;
    std::vector<Sequence*> held_;
    std::vector<Sequence*> admitted_;
    std::vector<Sequence*> preempted_;
};

}  // namespace podsim::scenarios
