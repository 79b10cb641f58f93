// A crew of the threads of this process.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "scenarios/src/base/crew.h"
#include "scenarios/src/base/parallel.h"

namespace podsim::scenarios {

class ThreadCrew final : public Crew {
public:
    using Work = std::function<std::string(const std::string&)>;

    ThreadCrew(int jobs, Work work) : jobs_(jobs), work_(std::move(work)) {}

    void run(std::size_t first, std::size_t count, const Piece& piece, const Done& done,
             const std::function<bool()>& stop, std::size_t waiting_per_thread) override {
        run_in_order(
            first, count, jobs_,
            [&](std::size_t i) {
                const std::optional<std::string> todo = piece(i);
                return todo ? work_(*todo) : std::string();
            },
            done, stop, waiting_per_thread);
    }

private:
    const int jobs_;
    const Work work_;
};

}  // namespace podsim::scenarios
