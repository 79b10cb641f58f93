// Ranks by MPI: the module podsim_mpi.so. The program does not link it, since libmpi and what it needs would add 4 ms to every start.
#include <mpi.h>

#include "scenarios/ranks/joined_ranks.h"

namespace podsim::scenarios {
namespace {

/// Errors of MPI end the job, as is MPI's default.
class MpiRanks : public Ranks {
public:
    MpiRanks() {
        int provided = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
    }
    ~MpiRanks() override { MPI_Finalize(); }
    MpiRanks(const MpiRanks&) = delete;
    MpiRanks& operator=(const MpiRanks&) = delete;

    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return size_; }

    void send(int to, const std::string& text) override {
        MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, to, 0, MPI_COMM_WORLD);
    }

    [[nodiscard]] std::optional<Message> receive() override {
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
    int rank_ = 0;
    int size_ = 1;
};

}  // namespace
}  // namespace podsim::scenarios

// All else in podsim is hidden.
extern "C" [[gnu::visibility("default")]] podsim::scenarios::Ranks* podsim_join_ranks() {
    return new podsim::scenarios::MpiRanks();
}
