#include "scenarios/ranks/own_threads.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

namespace podsim::scenarios {
namespace {

using namespace std::chrono_literals;

constexpr auto kLongestWait = 500us;

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

}  // namespace podsim::scenarios
