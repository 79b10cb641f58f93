#include "workloads/program/alike_work.h"

#include <bit>
#include <cstdint>
#include <unordered_map>

namespace podsim::workloads {
namespace {

/// Returns equal values for equal work.
std::uint64_t digest(const Work& work) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    std::uint64_t sum = work.index();
    const auto mix = [&](double value) {
        // -0.0 equals 0.0.
        sum = (sum ^ std::bit_cast<std::uint64_t>(value + 0.0)) * kOdd;
    };
    if (const auto* compute = std::get_if<Compute>(&work)) {
        mix(compute->flops.value());
        mix(compute->hbm.value());
        mix(compute->vector.value());
    } else if (const auto* collective = std::get_if<Collective>(&work)) {
        mix(collective->bytes.value());
        mix(static_cast<double>(collective->operation));
    } else if (const auto* handover = std::get_if<Handover>(&work)) {
        mix(handover->message);
    } else {
        mix(std::get<HostTransfer>(work).bytes.value());
    }
    return sum ^ (sum >> 32U);
}

/// Goes through operations in their order.
class Alike {
public:
    explicit Alike(const std::vector<Op>& ops) : ops_(ops), last_(ops.size()) {
        first_.reserve(ops.size());
    }

    std::vector<OpIndex> find() {
        for (OpIndex op = 0; op < ops_.size(); ++op) {
            const OpIndex first = first_of(op);
            period_ = op - last_[first];
            last_[first] = op;
            first_.push_back(first);
        }
        return std::move(first_);
    }

private:
    /// Most operations do the same work as the one a layer before, which is as far back as for the
    /// preceding operation.
    OpIndex first_of(OpIndex op) {
        if (period_ > 0 && period_ <= op) {
            const OpIndex guess = first_[op - period_];
            if (ops_[guess].work == ops_[op].work) {
                return guess;
            }
        }
        std::vector<OpIndex>& firsts = by_digest_[digest(ops_[op].work)];
        for (const OpIndex first : firsts) {
            if (ops_[first].work == ops_[op].work) {
                return first;
            }
        }
        firsts.push_back(op);
        last_[op] = op;
        return op;
    }

    const std::vector<Op>& ops_;
    std::vector<OpIndex> first_;
    std::vector<OpIndex> last_;  ///< [first]: the last so far that does the same
    OpIndex period_ = 0;
    std::unordered_map<std::uint64_t, std::vector<OpIndex>> by_digest_;
};

}  // namespace

void find_alike(StepProgram& program) {
    program.first_alike = Alike(program.ops).find();
}

void find_alike(StepPrograms& programs) {
    for (StepProgram& program : programs.programs) {
        find_alike(program);
    }
}

}  // namespace podsim::workloads
