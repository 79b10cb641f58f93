#include "tests/collectives/slices/slices_brute_force.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "tests/collectives/slices/slices_messages.h"

namespace podsim::collectives {
namespace {

class BruteForce {
public:
    explicit BruteForce(const SlicesCase& c) : rule_(c.within.link.rule), all_(c) {}

    Clock run() {
        Clock now = 0;
        Clock end = 0;
        while (now != kNever) {
            release(now);
            serve(now);
            Clock next = kNever;
            for (const SlowMessage& m : all_.messages) {
                next = std::min(next, m.due);
                if (m.state == State::queued) {
                    next = std::min(next, std::max(now, all_.links[m.links[m.hop]].busy_until));
                }
            }
            now = next;
            for (SlowMessage& m : all_.messages) {
                if (m.due != now || now == kNever) {
                    continue;
                }
                m.due = kNever;
                m.state = m.hop == m.links.size() ? State::done : State::queued;
                m.queued_at = now;
                end = m.state == State::done ? now : end;
            }
        }
        return std::ranges::all_of(all_.messages, done) ? end : -1;
    }

private:
    static bool done(const SlowMessage& m) { return m.state == State::done; }

    bool phase_ended(const PhaseAt& at) {
        const auto& [chip, part, chunk, phase] = at;
        if (phase > 0 && !phase_ended({chip, part, chunk, phase - 1})) {
            return false;
        }
        return std::ranges::all_of(all_.arriving[at], [&](std::size_t i) {
            return !all_.messages[i].closes_phase || done(all_.messages[i]);
        });
    }

    void release(Clock now) {
        for (SlowMessage& m : all_.messages) {
            if (m.state != State::held_back || (m.begins && !phase_ended(*m.begins))) {
                continue;
            }
            if (m.follows) {
                const auto before = all_.names.find(*m.follows);
                if (before != all_.names.end() && !done(all_.messages[before->second])) {
                    continue;
                }
            }
            m.state = State::queued;
            m.queued_at = now;
        }
    }

    static auto turn(const SlowMessage& m) {
        const auto left = static_cast<std::int64_t>(m.links.size() - m.hop);
        return std::tuple(m.wave, m.phase, m.far_first ? -left : 0, m.queued_at, m.part, m.step,
                          m.chunk, m.backward, m.turn, m.hop, m.index_in_host);
    }

    void serve(Clock now) {
        std::map<std::size_t, SlowMessage*> chosen;
        for (SlowMessage& m : all_.messages) {
            if (m.state == State::queued && all_.links[m.links[m.hop]].busy_until <= now) {
                SlowMessage*& best = chosen[m.links[m.hop]];
                best = best == nullptr || turn(m) < turn(*best) ? &m : best;
            }
        }
        const bool additive = rule_ == sim::LatencyRule::additive;
        for (const auto& [name, m] : chosen) {
            SlowLink& on = all_.links[name];
            const auto occupancy = [&](double bytes) {
                return static_cast<Clock>(std::ceil(bytes / on.rate * 1e12));
            };
            Clock end = now + occupancy(m->bytes);
            if (m->hop > 0) {
                end = std::max(end, m->left_last_link);
            }
            on.busy_until = end;
            m->left_last_link = end + (additive ? on.latency : 0);
            m->state = State::on_link;
            const bool last = ++m->hop == m->links.size();
            m->due = !last      ? now + on.latency
                     : additive ? end + on.latency
                                : std::max(end, now + on.latency - occupancy(m->bytes_before));
        }
    }

    sim::LatencyRule rule_;
    SlicesMessages all_;
};

}  // namespace

sim::Time brute_force(const SlicesCase& c) {
    return {BruteForce(c).run()};
}

}  // namespace podsim::collectives
