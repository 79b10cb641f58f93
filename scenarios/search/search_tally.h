// What has become of the candidates of a search: which were taken, what was found, and what the counts add up to.
//
// What is proven goes by what was taken before. A candidate is an index of the list, which grows as plans are outlined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_set>
#include <vector>

#include "scenarios/search/answers.h"
#include "scenarios/search/search.h"
#include "scenarios/search/trial_record.h"
#include "scenarios/space/setting_bounds.h"

namespace podsim::scenarios {

class SearchTally {
public:
    /// `prunes`: whether what is proven useless is left out.
    SearchTally(const SearchSpace& space, bool prunes);

    /// Behind those that there are. Groups of plans that are not outlined yet come in the first list alone, and are put in order.
    void add(BoundedPlans plans);

    /// Forgets what was taken, and what is proven useless, which is counted. Candidates have other indices then; not once groups were passed.
    void thin_out();

    [[nodiscard]] std::size_t size() const { return list_.candidates.size(); }
    /// The plans of which something is kept.
    [[nodiscard]] std::size_t held() const { return list_.held(); }
    /// Whether nothing was found yet.
    [[nodiscard]] bool is_empty() const { return answers_.empty(); }
    [[nodiscard]] const Candidate& candidate(std::size_t i) const { return list_.candidates[i]; }
    [[nodiscard]] const PlanFacts& facts(std::size_t i) const {
        return list_.facts[list_.candidates[i].facts];
    }
    [[nodiscard]] std::uint64_t place(std::size_t i) const {
        return place_of(facts(i), candidate(i));
    }
    /// By which candidates are taken.
    [[nodiscard]] Score likely_score(std::size_t i) const;
    [[nodiscard]] Score bound_score(std::size_t i) const;
    /// Whether it would be an answer if it took what is likely.
    [[nodiscard]] bool is_likely(std::size_t i) const;
    [[nodiscard]] bool is_taken(std::size_t i) const { return taken_[i]; }
    [[nodiscard]] bool is_useless(std::size_t i) const {
        return is_useless(facts(i), list_.candidates[i]);
    }
    /// A step that takes longer is of no use.
    [[nodiscard]] sim::Time longest_of_use(std::size_t i) const;

    /// The groups that may be best of those that are neither outlined nor proven useless, at most so many.
    struct NextGroups {
        std::vector<RoughGroup> groups;
        std::vector<RoughGroup> useless;  ///< among them
        std::size_t end = 0;
    };
    [[nodiscard]] NextGroups next_groups(std::size_t most) const;
    [[nodiscard]] bool has_groups() const { return next_rough_ < list_.rough.size(); }
    /// They are outlined, and added.
    void pass(const NextGroups& next);

    /// In the order of the candidates. What was begun before the proof was there, and is now proven useless, is not counted as simulated;
    /// nor is what its own run proves useless, whether the run was ended for it or not. Throws std::logic_error for a step below its bound.
    void take(std::size_t i, const CandidateRun& trial);
    void check_bound(std::size_t i, const CandidateRun& trial, bool recorded) const;
    /// A trial of another shard, which may be one of the answers.
    void hear(std::size_t i, const CandidateRun& trial);

    /// The scenario's own plan, at a place of the space, which may be an answer though its turn has not come.
    void hear_own(const PlanFacts& facts, const Candidate& candidate, const CandidateRun& trial);

    /// What no bound is known of: so many plans, so many more at most that are not even listed, and plans that would be better than all
    /// of them if each took its least_time.
    struct Unseen {
        std::uint64_t plans = 0;
        std::uint64_t not_listed = 0;
        std::optional<std::vector<PlanFacts>> floor{};
    };
    /// What was found, and what is left: `is_own` says what this shard would have tried itself.
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
    std::vector<bool> taken_;     ///< by candidate: it was tried
    std::size_t next_rough_ = 0;  ///< the first group that is neither outlined nor proven useless
    Answers answers_;
    std::unordered_set<std::uint64_t> answered_;  ///< places of what is in the answers
    std::unordered_set<std::uint32_t> missed_;  ///< facts of what did not fit when it was simulated
    SearchResult result_;
    double tightness_ = 0;
};

}  // namespace podsim::scenarios
