// Ranks by MPI, as the module podsim_mpi.so. The program does not link it, because libmpi and its
// dependencies would add 4 ms to every start.
#include <deque>
#include <mpi.h>
#include <utility>

#include "scenarios/src/base/joined_ranks.h"

namespace podsim::scenarios {
namespace {

/// Ranks over MPI_COMM_WORLD. Errors of MPI end the job, as is MPI's default.
class MpiRanks : public Ranks {
public:
    MpiRanks() {
        int provided = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
    }
    ~MpiRanks() override {
        for (Sent& sent : on_their_way_) {
            MPI_Wait(&sent.request, MPI_STATUS_IGNORE);
        }
        MPI_Finalize();
    }
    MpiRanks(const MpiRanks&) = delete;
    MpiRanks& operator=(const MpiRanks&) = delete;

    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return size_; }

    void send(int to, std::string text) override {
        Sent& sent = on_their_way_.emplace_back(std::move(text));
        MPI_Isend(sent.text.data(), static_cast<int>(sent.text.size()), MPI_CHAR, to, 0,
                  MPI_COMM_WORLD, &sent.request);
    }

    [[nodiscard]] std::optional<Message> receive() override {
        forget_what_has_gone();
        int there = 0;
        MPI_Status status{};
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, &status);
        if (there == 0) {
            return std::nullopt;
        }
        int size = 0;
        MPI_Get_count(&status, MPI_CHAR, &size);
        Message message{.from = status.MPI_SOURCE,
                        .text = std::string(static_cast<std::size_t>(size), '\0')};
        MPI_Recv(message.text.data(), size, MPI_CHAR, message.from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        return message;
    }

private:
    struct Sent {
        explicit Sent(std::string of) : text(std::move(of)) {}
        std::string text;
        MPI_Request request = MPI_REQUEST_NULL;
    };

    /// Drops sent messages in their order; one that waits for its receiver keeps those behind it.
    void forget_what_has_gone() {
        for (int gone = 1; gone != 0 && !on_their_way_.empty();) {
            MPI_Test(&on_their_way_.front().request, &gone, MPI_STATUS_IGNORE);
            if (gone != 0) {
                on_their_way_.pop_front();
            }
        }
    }

    std::deque<Sent> on_their_way_;
    int rank_ = 0;
    int size_ = 1;
};

}  // namespace
}  // namespace podsim::scenarios

// All other symbols of podsim are hidden.
extern "C" [[gnu::visibility("default")]] podsim::scenarios::Ranks* podsim_join_ranks() {
    return new podsim::scenarios::MpiRanks();
}
