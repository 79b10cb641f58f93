// A server that many streams use at once, each at most at the rate that it asks for: max-min fair sharing, work apart from messages.
//
// A stream asks for `demand` units a second and has work left, in units a second times picoseconds: `demand x t` is
// what it does in t picoseconds at full speed. With R the server's rate, d_i the demands and D_k the sum of those of kind k,
//   sum d_i <= R   every stream has its demand
//   else           work has        R_0 = min(D_0, max(R / 2, R - D_1 - D_2))
//                  urgent messages R_1 = min(D_1, R - R_0), the others R_2 = R - R_0 - R_1
//                  share_i = min(d_i, L_k), with the level L_k for which the shares of a kind add up to R_k
// (Bertsekas and Gallager, Data Networks, 1992, section 6.5.2). So work has no less than half of the server, however many messages
// there are: it is one of two that ask, not one of a dozen. Among messages those go first that do so at links. Rates are whole numbers and L is rounded down, so that of k
// streams at the level fewer than k units a second are left unused. A stream with w left ends ceil(w / share)
// picoseconds on: the only place where a time is rounded. While its share stays as it is so does its end, so that what a stream
// has left is only worked out when its share changes. Streams stand in the order of their demands and keys, and sums
// of whole numbers do not depend on it: neither keys nor the order of arrival decide anything. Streams that have ended
// count for nothing, whether or not they have been taken out.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "sim/base/time.h"

namespace podsim::sim {

/// Units a second times picoseconds.
// NOLINTNEXTLINE(modernize-use-using): only a typedef may be an extension
__extension__ typedef __int128 Work;

class SharedServer {
public:
    /// What asks: the caller's kind and number, unique among the streams of a server.
    struct Key {
        std::uint32_t kind = 0;
        std::uint32_t number = 0;

        friend auto operator<=>(const Key&, const Key&) = default;
    };
    enum class Kind : std::uint8_t { work, urgent, other };
    struct Stream {
        std::int64_t demand = 0;  ///< units a second, above zero; each of those that are alike
        Key key;
        std::int64_t share = 0;
        Time end;                 ///< if the share stays as it is
        Time since;               ///< when the share became what it is
        std::uint32_t alike = 1;  ///< so many with the same demand and end: each has the share
        Kind kind{};
        Work left = 0;  ///< at that time

        [[nodiscard]] Work left_at(Time now) const {
            return end > now ? left - Work{share} * (now.ps - since.ps) : 0;
        }
    };

    SharedServer() = default;
    explicit SharedServer(std::int64_t rate) : rate_(rate) {}

    [[nodiscard]] bool empty() const { return streams_.empty(); }
    /// A stream that asks for `demand` and would take `alone` with it. One of that key must have ended by now.
    void begin(Key key, std::int64_t demand, Time alone, Time now, Kind kind = Kind::other);
    /// The same of so many that are alike, one of several that begin now, after the last of which the rate is shared out.
    void add(Key key, std::int64_t demand, Time alone, Time now, Kind kind = Kind::other,
             std::uint32_t alike = 1);
    void share_out(Time now);
    /// The streams that have ended by now leave; their keys go to the end of `ended`. The rate is to be shared out anew.
    void take_ended(Time now, std::vector<Key>& ended);
    /// Whether that stream is there and has work left.
    [[nodiscard]] bool unfinished(Key key, Time now) const;
    /// What the streams that have work left ask for together.
    [[nodiscard]] std::int64_t demand(Time now) const;
    /// The same as it was last shared out, right until the next stream ends and no less than that from then on.
    [[nodiscard]] std::int64_t asked() const { return asked_; }
    /// When the first of the streams ends if shares stay as they are; there must be one.
    [[nodiscard]] Time next_end() const { return next_end_; }
    /// By kind, then demand, then key.
    [[nodiscard]] const std::vector<Stream>& streams() const { return streams_; }
    /// All times have moved, and renumber(Key&) keeps the order of keys: what repeats was skipped.
    template <class Renumber>
    void skip(Time later_by, const Renumber& renumber) {
        next_end_ = next_end_ < Time::max() ? next_end_ + later_by : next_end_;
        for (Stream& stream : streams_) {
            stream.end = stream.end < Time::max() ? stream.end + later_by : stream.end;
            stream.since += later_by;
            renumber(stream.key);
        }
    }

private:
    /// What each kind has in all.
    [[nodiscard]] std::array<std::int64_t, 3> rates_of_kinds(
        const std::array<std::int64_t, 3>& asked) const;
    [[nodiscard]] std::int64_t shared_out(Time now) const;

    std::int64_t rate_ = 0;
    std::int64_t asked_ = 0;
    Time next_end_ = Time::max();
    std::vector<Stream> streams_;
};

}  // namespace podsim::sim
