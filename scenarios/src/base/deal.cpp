#include "scenarios/src/base/deal.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <map>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

using namespace std::chrono_literals;

constexpr auto kLongestWait = 500us;

using namespace std::chrono_literals;

// The first byte of a message from rank 0:
constexpr char kPiece = 'p';  // its number, a blank, its work
constexpr char kEnd = 'e';
// The first byte of a message from another rank:
constexpr char kReady = 'r';    // the number of its threads, a blank, its title
constexpr char kRefused = 'x';  // why it cannot take part
constexpr char kResult = 'd';   // the piece's number, a blank, its result
constexpr char kFailed = 'f';   // the message of an exception from `work`
constexpr char kStop = 's';
constexpr char kGone = 'g';  // the answer to kEnd, its last

/// Sleep of a rank that has no message.
constexpr auto kPatience = 500us;

/// Returns the number at the beginning and the text behind its blank.
Piece number_and_rest(const std::string& text) {
    std::size_t read = 0;
    const std::size_t number = std::stoull(text, &read);
    return {number, text.substr(std::min(read + 1, text.size()))};
}

std::string message_of(const EndedPiece& ended) {
    return ended.failed ? kFailed + ended.text
                        : fmt::format("{}{} ", kResult, ended.number) + ended.text;
}

/// Ends the other ranks. Receives their messages up to the last, so that none is left in transit.
void end_all(Ranks& ranks) {
    for (int rank = 1; rank < ranks.size(); ++rank) {
        ranks.send(rank, std::string(1, kEnd));
    }
    for (int gone = 0; gone < ranks.size() - 1;) {
        const std::optional<Message> message = ranks.receive();
        if (!message.has_value()) {
            std::this_thread::sleep_for(kPatience);
        } else if (message->text.front() == kGone) {
            ++gone;
        }
    }
}

}  // namespace

OwnThreads::OwnThreads(int threads, const std::function<std::string(const std::string&)>& work)
    : work_(work), threads_(std::min(threads, threads_with_room())) {
    if (threads_.threads() == 0) {
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                                "no thread can be started");
    }
}

OwnThreads::~OwnThreads() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return ended_.size() == pieces_; });
}

void OwnThreads::begin(Piece piece) {
    threads_.post([this, piece = std::move(piece)] {
        EndedPiece ended{.number = piece.number, .failed = true};
        try {
            ended.text = work_(piece.text);
            ended.failed = false;
        } catch (const std::exception& error) {
            ended.text = error.what();
        } catch (...) {
            ended.text = "unknown exception";
        }
        const std::lock_guard lock(mutex_);
        ended_.push_back(std::move(ended));
        ready_.notify_one();
    });
    ++pieces_;
}

std::optional<EndedPiece> OwnThreads::take() {
    std::unique_lock lock(mutex_);
    if (!ready_.wait_for(lock, kLongestWait, [&] { return !ended_.empty(); })) {
        return std::nullopt;
    }
    EndedPiece ended = std::move(ended_.front());
    ended_.pop_front();
    --pieces_;
    return ended;
}

/// The state that lasts from one run to the next: the number of pieces that each rank takes.
class Dealer::Team {
public:
    Team(Ranks& ranks, SharedWork shared)
        : ranks_(ranks),
          shared_(std::move(shared)),
          own_(shared_.jobs, shared_.work),
          free_(static_cast<std::size_t>(ranks.size())) {
        take_threads(0, static_cast<std::size_t>(shared_.jobs));
    }
    ~Team() { end_all(ranks_); }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    struct Run {
        std::size_t count;
        const Piece& piece;
        const Done& done;
        const std::function<bool()>& stop;
        std::size_t waiting_per_thread;
        std::size_t next;
        std::size_t written;
        std::map<std::size_t, std::string> waiting{};
        bool ended = false;  ///< no further piece of this run begins
    };

    void play(Run run) {
        while (run.written < run.count && !(run.ended && under_way_ == 0)) {
            stopped_ = stopped_ || shared_.stop();
            run.ended = run.ended || stopped_ || run.stop();
            deal(run);
            if (const std::optional<EndedPiece> ended = own_.take()) {
                hear(run, 0, message_of(*ended));
            }
            while (const std::optional<Message> message = ranks_.receive()) {
                hear(run, message->from, message->text);
            }
        }
    }

private:
    /// Another rank takes one piece more than it has threads, so that none of them waits for a
    /// message.
    void take_threads(std::size_t rank, std::size_t threads) {
        free_[rank] = threads + (rank == 0 ? 0 : 1);
        threads_ += threads;
    }

    void deal(Run& run) {
        for (bool dealt = true; dealt;) {
            dealt = false;
            for (std::size_t rank = 0; rank < free_.size(); ++rank) {
                if (free_[rank] == 0 || run.ended || run.next >= run.count ||
                    run.next >= run.written + run.waiting_per_thread * threads_) {
                    continue;
                }
                dealt = true;
                const std::size_t number = run.next++;
                std::optional<std::string> piece = run.piece(number);
                if (!piece) {
                    take(run, number, {});
                    continue;
                }
                --free_[rank];
                ++under_way_;
                if (rank == 0) {
                    own_.begin({number, *std::move(piece)});
                } else {
                    ranks_.send(static_cast<int>(rank),
                                fmt::format("{}{} ", kPiece, number) + *piece);
                }
            }
        }
    }

    void hear(Run& run, int from, const std::string& message) {
        const auto rank = static_cast<std::size_t>(from);
        const std::string rest = message.substr(1);
        if (message.front() == kReady) {
            const auto [threads, title] = number_and_rest(rest);
            if (title != shared_.title) {
                throw sim::InputError(fmt::format("rank {} has another version of the input", from),
                                      "give all machines the same files and the same podsim");
            }
            take_threads(rank, threads);
        } else if (message.front() == kRefused) {
            throw sim::InputError(fmt::format("rank {} cannot take part: {}", from, rest),
                                  "give all machines the same files and the same podsim");
        } else if (message.front() == kFailed) {
            throw std::runtime_error(rest);
        } else if (message.front() == kStop) {
            stopped_ = true;
        } else if (message.front() == kResult) {
            scenarios::Piece result = number_and_rest(rest);
            ++free_[rank];
            --under_way_;
            take(run, result.number, std::move(result.text));
        }
    }

    static void take(Run& run, std::size_t number, std::string result) {
        run.waiting.emplace(number, std::move(result));
        for (auto at = run.waiting.begin(); at != run.waiting.end() && at->first == run.written;
             at = run.waiting.erase(at)) {
            run.done(run.written++, at->second);
        }
    }

    Ranks& ranks_;
    const SharedWork shared_;
    OwnThreads own_;
    std::vector<std::size_t> free_;  ///< pieces that each rank would take now
    std::size_t threads_ = 0;        ///< of all ranks that are ready
    std::size_t under_way_ = 0;
    bool stopped_ = false;  ///< for good
};

Dealer::Dealer(Ranks& ranks, SharedWork shared)
    : team_(std::make_unique<Team>(ranks, std::move(shared))) {}

Dealer::~Dealer() = default;

void Dealer::run(std::size_t first, std::size_t count, const Piece& piece, const Done& done,
                 const std::function<bool()>& stop, std::size_t waiting_per_thread) {
    team_->play({.count = count,
                 .piece = piece,
                 .done = done,
                 .stop = stop,
                 .waiting_per_thread = waiting_per_thread,
                 .next = first,
                 .written = first});
}

void take_part(Ranks& ranks, const SharedWork& shared) {
    OwnThreads own(shared.jobs, shared.work);
    ranks.send(0, fmt::format("{}{} {}", kReady, shared.jobs, shared.title));
    bool stopped = false;
    for (bool ended = false; !ended || own.pieces() > 0;) {
        if (!stopped && shared.stop()) {
            stopped = true;
            ranks.send(0, std::string(1, kStop));
        }
        if (const std::optional<EndedPiece> piece = own.take()) {
            ranks.send(0, message_of(*piece));
        }
        if (const std::optional<Message> message = ranks.receive()) {
            ended = message->text.front() == kEnd;
            if (!ended) {
                own.begin(number_and_rest(message->text.substr(1)));
            }
        }
    }
    ranks.send(0, std::string(1, kGone));
}

void give_up(Ranks& ranks, const std::string& why) {
    if (ranks.rank() == 0) {
        end_all(ranks);
        return;
    }
    ranks.send(0, kRefused + why);
    // The message is kEnd, because a rank that is not ready is dealt nothing.
    while (!ranks.receive().has_value()) {
        std::this_thread::sleep_for(kPatience);
    }
    ranks.send(0, std::string(1, kGone));
}

}  // namespace podsim::scenarios
