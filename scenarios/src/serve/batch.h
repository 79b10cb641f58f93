// The sequences on a server and their pages: admission, growth and preemption.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "scenarios/src/scenario/serving_spec.h"
#include "scenarios/src/serve/waiting_line.h"

namespace podsim::scenarios {

class PageCache {
public:
    /// Without `pages` the cache is unlimited.
    explicit PageCache(std::optional<std::int64_t> pages) : pages_(pages) {}

    /// Takes pages. Returns false, and changes nothing, if there are too few.
    [[nodiscard]] bool take(std::int64_t pages);
    void give_back(std::int64_t pages) { used_ -= pages; }

    [[nodiscard]] std::int64_t used() const { return used_; }
    [[nodiscard]] std::int64_t peak() const { return peak_; }
    [[nodiscard]] std::optional<std::int64_t> capacity() const { return pages_; }

private:
    std::optional<std::int64_t> pages_;
    std::int64_t used_ = 0;
    std::int64_t peak_ = 0;
};

class Batch {
public:
    /// Takes sequences from `line`. Preempted ones go to `back`; their prompts are computed again.
    Batch(const ServingSpec& spec, WaitingLine& line, WaitingLine& back);

    [[nodiscard]] const WaitingLine& line() const { return line_; }
    [[nodiscard]] const PageCache& cache() const { return cache_; }
    [[nodiscard]] const CacheSpec& cache_spec() const { return cache_spec_; }
    /// Running sequences, in order of admission.
    [[nodiscard]] const std::vector<Sequence*>& running() const { return running_; }
    /// Finished sequences whose slots and pages wait for the end of their batch.
    [[nodiscard]] const std::vector<Sequence*>& held() const { return held_; }
    /// Maximum of tokens that a decode step adds to a cache: one, and the drafted ones.
    [[nodiscard]] std::int64_t step_tokens() const { return 1 + drafted_; }

    /// Admits the first sequence of the line, with pages for that many tokens in its cache (for all
    /// it will ever need, if the cache reserves). Returns nullptr without a sequence, a slot or the
    /// pages.
    Sequence* admit_front(std::int64_t cached_then);
    /// Takes pages for that many tokens in the sequence's cache. Returns false, and changes
    /// nothing, if there are too few.
    [[nodiscard]] bool grow(Sequence& sequence, std::int64_t cached_then);
    /// Returns the sequence to preempt when pages are short: the last in the order of
    /// waiting_line.h.
    [[nodiscard]] Sequence& victim() const;
    /// Discards its cache except the prefix, and lets it wait again.
    void preempt(Sequence& sequence);
    /// Removes a finished sequence; or holds it until release_held.
    void leave(Sequence& sequence);
    void hold(Sequence& sequence);
    void release_held();

    /// Returns the sequences that admit_front took since the last call.
    [[nodiscard]] std::vector<Sequence*> take_admitted() { return std::exchange(admitted_, {}); }
    [[nodiscard]] std::vector<Sequence*> take_preempted() { return std::exchange(preempted_, {}); }
    /// Pages of the prefix that all sequences share, counted once.
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
