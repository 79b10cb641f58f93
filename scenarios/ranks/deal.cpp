#include "scenarios/ranks/deal.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

using namespace std::chrono_literals;

// The first byte of a message. Of rank 0:
constexpr char kPiece = 'p';  // its number
constexpr char kEnd = 'e';
// Of the others:
constexpr char kReady = 'r';    // the number of its threads, a blank, its title
constexpr char kRefused = 'x';  // why it cannot take part
constexpr char kDone = 'd';     // the piece's number, a blank, its result
constexpr char kFailed = 'f';   // what `work` threw
constexpr char kStop = 's';
constexpr char kGone = 'g';  // the answer to kEnd, its last

/// How long a rank waits for its own threads before it looks for messages.
constexpr auto kPatience = 500us;

/// The number at the beginning, and what follows its blank.
std::pair<std::size_t, std::string> number_and_rest(const std::string& text) {
    std::size_t read = 0;
    const std::size_t number = std::stoull(text, &read);
    return {number, text.substr(std::min(read + 1, text.size()))};
}

/// This rank's threads: their results, or failures, are messages as another rank would send them.
class Threads {
public:
    explicit Threads(const SharedWork& shared)
        : shared_(shared),
          allow_(tbb::global_control::max_allowed_parallelism,
                 static_cast<std::size_t>(shared.jobs) + 1),  // this thread does not work
          arena_(shared.jobs, 0) {}
    ~Threads() {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [&] { return messages_.size() == pieces_; });
    }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

    /// Pieces begun whose results are not taken.
    [[nodiscard]] std::size_t pieces() const { return pieces_; }

    void begin(std::size_t piece) {
        ++pieces_;
        arena_.enqueue([this, piece] {
            std::string message;
            try {
                message = fmt::format("{}{} {}", kDone, piece, shared_.work(piece));
            } catch (const std::exception& error) {
                message = kFailed + std::string(error.what());
            } catch (...) {
                message = kFailed + std::string("unknown exception");
            }
            const std::lock_guard lock(mutex_);
            messages_.push_back(std::move(message));
            ready_.notify_one();
        });
    }

    /// Waits at most kPatience.
    std::optional<std::string> take() {
        std::unique_lock lock(mutex_);
        if (!ready_.wait_for(lock, kPatience, [&] { return !messages_.empty(); })) {
            return std::nullopt;
        }
        std::string message = std::move(messages_.front());
        messages_.pop_front();
        --pieces_;
        return message;
    }

private:
    const SharedWork& shared_;
    tbb::global_control allow_;
    tbb::task_arena arena_;
    std::size_t pieces_ = 0;  ///< of the thread that takes
    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<std::string> messages_;
};

/// Ends the others; takes their messages until the last, so that none waits in `send`.
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

class Dealer {
public:
    using Done = std::function<void(std::size_t, const std::string&)>;

    Dealer(Ranks& ranks, std::size_t first, std::size_t count, const SharedWork& shared,
           const Done& done)
        : ranks_(ranks),
          next_(first),
          written_(first),
          count_(count),
          shared_(shared),
          done_(done),
          free_(static_cast<std::size_t>(ranks.size())) {}

    void run() {
        Threads own(shared_);
        take_threads(0, static_cast<std::size_t>(shared_.jobs));
        while (written_ < count_ && !(stopped_ && under_way_ == 0)) {
            stopped_ = stopped_ || shared_.stop();
            deal(own);
            if (const std::optional<std::string> message = own.take()) {
                hear(0, *message);
            }
            while (const std::optional<Message> message = ranks_.receive()) {
                hear(message->from, message->text);
            }
        }
    }

private:
    static constexpr std::size_t kWaitingPerThread = 4;

    /// One piece more than threads, so that none waits for a message.
    void take_threads(std::size_t rank, std::size_t threads) {
        free_[rank] = threads + (rank == 0 ? 0 : 1);
        threads_ += threads;
    }

    void deal(Threads& own) {
        for (bool dealt = true; dealt;) {
            dealt = false;
            for (std::size_t rank = 0; rank < free_.size(); ++rank) {
                if (free_[rank] == 0 || stopped_ || next_ >= count_ ||
                    next_ >= written_ + kWaitingPerThread * threads_) {
                    continue;
                }
                --free_[rank];
                ++under_way_;
                dealt = true;
                if (rank == 0) {
                    own.begin(next_++);
                } else {
                    ranks_.send(static_cast<int>(rank), fmt::format("{}{}", kPiece, next_++));
                }
            }
        }
    }

    void hear(int from, const std::string& message) {
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
        } else if (message.front() == kDone) {
            auto [piece, result] = number_and_rest(rest);
            ++free_[rank];
            --under_way_;
            waiting_.emplace(piece, std::move(result));
            for (auto at = waiting_.begin(); at != waiting_.end() && at->first == written_;
                 at = waiting_.erase(at)) {
                done_(written_++, at->second);
            }
        }
    }

    Ranks& ranks_;
    std::size_t next_;
    std::size_t written_;
    std::size_t count_;
    const SharedWork& shared_;
    const Done& done_;
    std::vector<std::size_t> free_;  ///< [rank] pieces that it would take now
    std::size_t threads_ = 0;        ///< of all ranks that are ready
    std::size_t under_way_ = 0;
    bool stopped_ = false;
    std::map<std::size_t, std::string> waiting_;
};

}  // namespace

void deal_out(Ranks& ranks, std::size_t first, std::size_t count, const SharedWork& shared,
              const std::function<void(std::size_t, const std::string&)>& done) {
    try {
        Dealer(ranks, first, count, shared, done).run();
    } catch (...) {
        end_all(ranks);
        throw;
    }
    end_all(ranks);
}

void take_part(Ranks& ranks, const SharedWork& shared) {
    Threads own(shared);
    ranks.send(0, fmt::format("{}{} {}", kReady, shared.jobs, shared.title));
    bool stopped = false;
    for (bool ended = false; !ended || own.pieces() > 0;) {
        if (!stopped && shared.stop()) {
            stopped = true;
            ranks.send(0, std::string(1, kStop));
        }
        if (const std::optional<std::string> message = own.take()) {
            ranks.send(0, *message);
        }
        if (const std::optional<Message> message = ranks.receive()) {
            ended = message->text.front() == kEnd;
            if (!ended) {
                own.begin(number_and_rest(message->text.substr(1)).first);
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
    while (!ranks.receive().has_value()) {  // kEnd: nothing is dealt to a rank that is not ready
        std::this_thread::sleep_for(kPatience);
    }
    ranks.send(0, std::string(1, kGone));
}

}  // namespace podsim::scenarios
