// Whole numbers that follow from a device's number: `partition-id`, tables of constants, sums.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "workloads/hlo/budget.h"
#include "workloads/hlo/device_counts.h"
#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// A list of arithmetic steps, run for one device at a time.
class OnDevice {
public:
    /// Keeps references to all arguments. Steps are charged to the instruction `user`.
    OnDevice(const Computation& computation, const DeviceCounts& counts, const Instruction& user,
             Budget& budget)
        : computation_(computation), counts_(counts), user_(user), budget_(budget) {}

    /// Adds the steps that compute an instruction. Returns the index of its step; nothing if it
    /// cannot be computed.
    std::optional<std::size_t> add(std::uint32_t wanted);

    [[nodiscard]] std::size_t steps() const { return steps_.size(); }

    /// Computes the results of all steps on one device; returns false if a step has none.
    bool run(std::int64_t device, std::vector<std::int64_t>& values) const;

private:
    enum class Kind {
        number,
        device,
        partition,
        replica,
        same,
        table,
        add,
        subtract,
        multiply,
        divide,
        remainder
    };
    struct Step {
        Kind kind = Kind::number;
        /// Operands as instructions; within `steps_` as indices of steps.
        std::vector<std::uint32_t> parts{};
        /// Entries of a table; the value of a constant.
        std::vector<std::int64_t> table{};
    };

    [[nodiscard]] std::optional<Step> step_of(const Instruction& at) const;
    [[nodiscard]] std::optional<std::int64_t> result(const Step& step, std::int64_t device,
                                                     const std::vector<std::int64_t>& values) const;
    static std::optional<std::int64_t> sum(Kind kind, std::int64_t a, std::int64_t b);

    const Computation& computation_;
    const DeviceCounts& counts_;
    const Instruction& user_;
    Budget& budget_;
    std::vector<Step> steps_{};
    std::unordered_map<std::uint32_t, std::size_t> numbers_{};
};

}  // namespace podsim::workloads::hlo
