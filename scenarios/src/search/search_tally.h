// Accounts for the candidates of a search: which were taken, what was found, and what the counts
// add up to.
//
// Proofs use only candidates that were taken before. A candidate is an index of the list, which
// grows as plans are outlined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_set>
#include <vector>

#include "scenarios/src/search/answers.h"
#include "scenarios/src/search/search.h"
#include "scenarios/src/search/setting_bounds.h"
#include "scenarios/src/search/trial_record.h"

namespace podsim::scenarios {

class SearchTally {
public:
    /// `prunes`: candidates that are proven useless are left out.
    SearchTally(const SearchSpace& space, bool prunes);

    /// Appends plans to the list. Groups of plans that are not outlined yet are only in the first
    /// list, and are put in order.
    void add(BoundedPlans plans);

    /// Drops the candidates that were taken, and those that are proven useless, which are counted.
    /// The indices of candidates change. Not allowed once groups were passed.
    void thin_out();

    [[nodiscard]] std::size_t size() const { return list_.candidates.size(); }
    /// Returns the number of plans of which anything is kept.
    [[nodiscard]] std::size_t held() const { return list_.held(); }
    /// True if nothing was found yet.
    [[nodiscard]] bool is_empty() const { return answers_.empty(); }
    [[nodiscard]] const Candidate& candidate(std::size_t i) const { return list_.candidates[i]; }
    [[nodiscard]] const PlanFacts& facts(std::size_t i) const {
        return list_.facts[list_.candidates[i].facts];
    }
    [[nodiscard]] std::uint64_t place(std::size_t i) const {
        return place_of(facts(i), candidate(i));
    }
    /// Returns the score by which candidates are ordered.
    [[nodiscard]] Score likely_score(std::size_t i) const;
    [[nodiscard]] Score bound_score(std::size_t i) const;
    /// True if a candidate would be an answer if it took its expected time.
    [[nodiscard]] bool is_likely(std::size_t i) const;
    [[nodiscard]] bool is_taken(std::size_t i) const { return taken_[i]; }
    [[nodiscard]] bool is_useless(std::size_t i) const {
        return is_useless(facts(i), list_.candidates[i]);
    }
    /// Returns the longest step that is of use.
    [[nodiscard]] sim::Time longest_of_use(std::size_t i) const;

    /// At most `most` of the groups that are neither outlined nor proven useless, those that may be
    /// best.
    struct NextGroups {
        std::vector<RoughGroup> groups;
        /// Groups on the way that are proven useless.
        std::vector<RoughGroup> useless;
        std::size_t end = 0;
    };
    [[nodiscard]] NextGroups next_groups(std::size_t most) const;
    [[nodiscard]] bool has_groups() const { return next_rough_ < list_.rough.size(); }
    /// Marks these groups as outlined and added.
    void pass(const NextGroups& next);

    /// Takes the result of a candidate, in the order of the candidates. A run that was begun before
    /// a proof that it is useless does not count as simulated; nor does a run that itself proves
    /// this, whether it was ended for it or not. Throws std::logic_error for a step below its
    /// bound.
    void take(std::size_t i, const CandidateRun& trial);
    void check_bound(std::size_t i, const CandidateRun& trial, bool recorded) const;
    /// Adds a trial of another shard, which may be one of the answers.
    void hear(std::size_t i, const CandidateRun& trial);

    /// Adds the run of the scenario's own plan, which has an index in the space and may be an
    /// answer although it was not reached yet.
    void hear_own(const PlanFacts& facts, const Candidate& candidate, const CandidateRun& trial);

    /// Plans without any bound: their number, an upper bound of those that are not even listed, and
    /// plans that would be better than all of them if each took its least_time.
    struct Unseen {
        std::uint64_t plans = 0;
        std::uint64_t not_listed = 0;
        std::optional<std::vector<PlanFacts>> floor{};
    };
    /// Returns what was found, and what is left. `is_own` says which candidates this shard would
    /// have tried itself.
    [[nodiscard]] SearchResult result(const std::function<bool(std::size_t)>& is_own,
                                      const Unseen& unseen) &&;

private:
    [[nodiscard]] bool is_useless(const PlanFacts& facts, const Candidate& candidate) const {
        return prunes_ && answers_.is_useless(facts, candidate);
    }
    void count(std::size_t i, const CandidateRun& trial);
    void comes_near(const PlanFacts& facts, sim::Time least);
    [[nodiscard]] bool fits(std::size_t i, const CandidateRun& trial) const;
    void add_answer(std::size_t i, const CandidateRun& trial);
    void prove(std::uint64_t plans, const PlanFacts& facts, sim::Time bound);
    [[nodiscard]] bool is_useless(const RoughGroup& group) const;
    [[nodiscard]] std::optional<Score> count_the_rest(
        const std::function<bool(std::size_t)>& is_own);
    void count_the_unseen(std::optional<Score> least, const Unseen& unseen);

    const SearchSpace& space_;
    const SearchSpec& spec_;
    const bool prunes_;
    BoundedPlans list_;
    std::vector<bool> taken_;  ///< by candidate: it was tried
    /// The first group that is neither outlined nor proven useless.
    std::size_t next_rough_ = 0;
    Answers answers_;
    std::unordered_set<std::uint64_t> answered_;  ///< indices of the plans in the answers
    /// Facts of the plans that did not fit when they were simulated.
    std::unordered_set<std::uint32_t> missed_;
    SearchResult result_;
    double tightness_ = 0;
};

}  // namespace podsim::scenarios
