#include "scenarios/src/search/search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "scenarios/src/base/thread_crew.h"
#include "scenarios/src/search/bounding_rounds.h"
#include "scenarios/src/search/candidates.h"
#include "scenarios/src/search/memory_fit.h"
#include "scenarios/src/search/plan_work.h"
#include "scenarios/src/search/search_tally.h"

namespace podsim::scenarios {
namespace {

/// Number of the most likely candidates that are tried before all others.
constexpr std::size_t kLookedAtFirst = 32;
/// A run may take a hundred times as long as those behind it, most of which are skipped.
constexpr std::size_t kWaitingPerThread = 256;
/// Number of groups of collective matmul plans that are outlined at once.
constexpr std::size_t kRefinedAtOnce = 256;

/// The fraction of a search that is reported when its first plan is simulated.
constexpr double kOwnIsDone = 1e-9;

/// Interval at which a shard reads the results of others.
constexpr std::chrono::seconds kBetweenLooks{1};

/// Spreads plans with adjacent indices over the shards.
bool is_of(const SweepShard& shard, std::uint64_t place) {
    // The finalizer of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
    // Generators, 2014).
    place = (place ^ place >> 30U) * 0xbf58476d1ce4e5b9;
    place = (place ^ place >> 27U) * 0x94d049bb133111eb;
    return (place ^ place >> 31U) % shard.of == shard.number;
}

class Search {
public:
    Search(const SearchSpace& space, const SearchOptions& options)
        : space_(space),
          options_(options),
          work_(space, options.watch,
                [this](bool any) {
                    return (any || rounds_.has_bounded()) && options_.stop_bounding();
                }),
          threads_(options.jobs, [this](const std::string& piece) { return work_.work(piece); }),
          crew_(options.crew != nullptr ? *options.crew : threads_),
          tally_(space, options.prunes),
          rounds_(space, options, tally_,
                  [this](std::size_t first) { look_where_it_is_likely(first); }) {}

    SearchResult run() {
        own_is_known_ = space_.list_own([&] { return rounds_.is_asked_to_stop(); });
        if (own_is_known_) {
            simulate_own();
        }
        rounds_.run(work_.bounding(), crew_);
        ended_ = ended_ || rounds_.stopped() != nullptr;
        look_where_it_is_likely(0);
        while (!ended_ && tally_.has_groups()) {
            refine();
        }
        if (!ended_) {
            try_all(rest());
        }
        const SearchTally::Unseen unseen = rounds_.unseen();
        if ((ended_ || unseen.plans > 0) && own_place_ && own_run_) {
            tally_.hear_own(space_.own()->facts, *space_.own()->candidate, *own_run_);
        }
        // A caller that ends a search by `stop` wants the results so far.
        if (rounds_.stopped() && !own_run_ && tally_.is_empty() && !options_.stop()) {
            std::rethrow_exception(rounds_.stopped());
        }
        SearchResult result =
            std::move(tally_).result([&](std::size_t i) { return is_own(i); }, unseen);
        add_own(result);
        return result;
    }

private:
    /// Runs the first simulation, whatever is asked of the others.
    void simulate_own() {
        const std::optional<OwnPlan>& own = space_.own();
        if (!own || !own->refused.empty()) {
            return;
        }
        if (own->candidate) {
            own_place_ = place_of(own->facts, *own->candidate);
        }
        rounds_.add_floor(own->facts);
        const CandidateRun* const found =
            own_place_ && options_.record != nullptr ? options_.record->find(*own_place_) : nullptr;
        if (found != nullptr && found->is_whole) {
            own_run_ = *found;
            return;
        }
        crew_.run(
            0, 1, [](std::size_t) { return PlanWork::to_try_own(); },
            [&](std::size_t, const std::string& result) { own_run_ = PlanWork::trial(result); },
            [] { return false; });
        if (own_run_ && own_run_->stopped) {
            own_run_.reset();
            return;
        }
        report(kOwnIsDone);
        own_is_recorded_ = false;
        if (own_run_ && own_place_ && options_.record != nullptr &&
            is_of(options_.shard, *own_place_)) {
            options_.record->add(*own_place_, space_.set(own->facts, *own->candidate), *own_run_);
        }
    }

    void add_own(SearchResult& result) const {
        if (!own_is_known_) {
            return;
        }
        const std::optional<OwnPlan>& own = space_.own();
        if (!own || (own->refused.empty() && !own_run_)) {
            return;
        }
        ThisPlan& plan = result.own.emplace();
        plan.refused = own_run_ ? own_run_->refused : own->refused;
        plan.in_space = own->candidate.has_value();
        if (!plan.refused.empty()) {
            return;
        }
        plan.plan = {own->candidate.value_or(Candidate()), own->facts, own_run_->step_time,
                     own_run_->peak, own_place_.value_or(0)};
        plan.fits = may_fit(space_.spec().asked, own_run_->peak, own->facts.capacity);
        const auto found = std::ranges::find(result.best, plan.plan.place, &FoundPlan::place);
        if (plan.in_space && found != result.best.end()) {
            plan.number = static_cast<std::size_t>(found - result.best.begin()) + 1;
        }
    }

    /// Returns the candidates that were not tried. Those that are likely to be an answer come
    /// first, by how good they are likely to be. For the others only the bound is in the way: they
    /// are ordered from the lowest bound on, so that a search that is ended early has a small gap.
    [[nodiscard]] std::vector<std::size_t> rest() const {
        std::vector<std::tuple<bool, Score, std::size_t>> turns;  // unlikely, score, candidate
        for (std::size_t i = 0; i < tally_.size(); ++i) {
            if (!tally_.is_taken(i)) {
                const bool likely = tally_.is_likely(i);
                turns.emplace_back(!likely, likely ? tally_.likely_score(i) : tally_.bound_score(i),
                                   i);
            }
        }
        std::ranges::sort(turns);
        std::vector<std::size_t> order;
        order.reserve(turns.size());
        std::ranges::transform(turns, std::back_inserter(order),
                               [](const auto& turn) { return std::get<2>(turn); });
        return order;
    }

    /// Tries, of the candidates from `first` on, the scenario's own and those that are likely to be
    /// good: good plans prove much of the rest useless.
    void look_where_it_is_likely(std::size_t first) {
        std::vector<std::size_t> likely;
        for (std::size_t i = first; i < tally_.size(); ++i) {
            likely.push_back(i);
        }
        const std::size_t count = std::min(kLookedAtFirst, likely.size());
        std::ranges::partial_sort(likely, likely.begin() + static_cast<std::ptrdiff_t>(count), {},
                                  [&](std::size_t i) { return tally_.likely_score(i); });
        likely.resize(count);
        for (std::size_t i = first; i < tally_.size(); ++i) {
            if (tally_.place(i) == own_place_ && own_run_) {
                std::erase(likely, i);
                likely.insert(likely.begin(), i);
            }
        }
        try_all(likely);
    }

    /// Outlines the next groups of plans that may be good.
    void refine() {
        const SearchTally::NextGroups next = tally_.next_groups(kRefinedAtOnce);
        const std::size_t before = tally_.size();
        BoundedPlans plans;
        try {
            crew_.run(
                0, next.groups.size(),
                [&](std::size_t i) { return PlanWork::to_refine(next.groups[i]); },
                [&](std::size_t i, const std::string& result) {
                    plans.add(PlanWork::bounded(result));
                    tell(options_.watch, Phase::bounding,
                         static_cast<double>(i + 1) / static_cast<double>(next.groups.size()));
                },
                [] { return false; });
        } catch (const Stopped&) {
            ended_ = true;
            return;
        }
        tally_.add(std::move(plans));
        tally_.pass(next);
        look_where_it_is_likely(before);
    }

    /// Tries candidates in that order, until somebody asks to stop.
    void try_all(const std::vector<std::size_t>& order) {
        if (ended_) {
            return;
        }
        std::map<std::size_t, CandidateRun> known;  // of records, by position in the order
        crew_.run(
            0, order.size(), [&](std::size_t turn) { return piece(order[turn], turn, known); },
            [&](std::size_t turn, const std::string& result) {
                take(order[turn], turn, result, known);
                report(static_cast<double>(turn + 1) / static_cast<double>(order.size()));
            },
            [&] { return ended_ || options_.stop(); }, kWaitingPerThread);
        ended_ = ended_ || options_.stop();
    }

    void report(double share) {
        try {
            tell(options_.watch, Phase::searching, share);
        } catch (const Stopped&) {
            // The results so far count; `stop` and the simulations under way end the search.
        }
    }

    [[nodiscard]] bool is_own(std::size_t i) const {
        return is_of(options_.shard, tally_.place(i));
    }

    /// Returns the work for a candidate: none if it is useless, known from a record, or another
    /// shard's.
    std::optional<std::string> piece(std::size_t i, std::size_t turn,
                                     std::map<std::size_t, CandidateRun>& known) {
        const std::scoped_lock lock(mutex_);
        if (tally_.is_useless(i)) {
            return std::nullopt;
        }
        const sim::Time longest = tally_.longest_of_use(i);
        const CandidateRun* const found = known_run(i);
        if (found != nullptr && (found->is_whole || found->step_time > longest)) {
            known[turn] = *found;
            return std::nullopt;
        }
        if (!is_own(i)) {
            return std::nullopt;
        }
        return PlanWork::to_try(tally_.facts(i), tally_.candidate(i), longest);
    }

    /// Returns the run in a record, or that of the scenario's own plan if it is this shard's.
    [[nodiscard]] const CandidateRun* known_run(std::size_t i) const {
        if (own_run_ && tally_.place(i) == own_place_ && is_own(i)) {
            return &*own_run_;
        }
        return options_.record != nullptr ? options_.record->find(tally_.place(i)) : nullptr;
    }

    void take(std::size_t i, std::size_t turn, const std::string& result,
              std::map<std::size_t, CandidateRun>& known) {
        const std::scoped_lock lock(mutex_);
        const CandidateRun trial = result.empty() ? known[turn] : PlanWork::trial(result);
        known.erase(turn);
        ended_ = ended_ || trial.stopped;
        if (ended_) {
            return;
        }
        tally_.check_bound(i, trial,
                           result.empty() && (own_is_recorded_ || tally_.place(i) != own_place_));
        if (options_.record != nullptr && !result.empty()) {
            options_.record->add(tally_.place(i), space_.set(tally_.facts(i), tally_.candidate(i)),
                                 trial);
        }
        if (options_.shard.of > 1) {
            look_at_others();
        }
        tally_.take(i, trial);
    }

    /// Good plans of other shards prove the same useless here.
    void look_at_others() {
        const auto now = std::chrono::steady_clock::now();
        if (options_.record == nullptr || now < next_look_) {
            return;
        }
        next_look_ = now + kBetweenLooks;
        const std::vector<std::uint64_t> places = options_.record->read_others();
        const std::unordered_set<std::uint64_t> news(places.begin(), places.end());
        for (std::size_t i = 0; i < tally_.size() && !news.empty(); ++i) {
            const std::uint64_t place = tally_.place(i);
            const CandidateRun* const trial =
                news.contains(place) ? options_.record->find(place) : nullptr;
            if (trial != nullptr) {
                tally_.hear(i, *trial);
            }
        }
    }

    const SearchSpace& space_;
    const SearchOptions& options_;
    PlanWork work_;
    ThreadCrew threads_;
    Crew& crew_;
    std::mutex mutex_;
    SearchTally tally_;
    BoundingRounds rounds_;
    std::optional<std::uint64_t> own_place_;
    std::optional<CandidateRun> own_run_;
    bool own_is_known_ = false;  ///< the meshes of its machine are listed
    bool own_is_recorded_ = true;
    std::chrono::steady_clock::time_point next_look_{};
    std::atomic<bool> ended_ = false;  ///< somebody has asked to stop
};

}  // namespace

std::uint64_t SearchResult::refused_in_all() const {
    std::uint64_t sum = 0;
    for (const auto& [reason, count] : refused) {
        sum += count;
    }
    return sum;
}

SearchResult search(const SearchSpace& space, const SearchOptions& options) {
    return Search(space, options).run();
}

}  // namespace podsim::scenarios
