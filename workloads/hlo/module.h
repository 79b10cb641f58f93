// An HLO module: computations of instructions, as printed.
//
// An instruction's operands are numbers of instructions of its own computation; the computations that it calls are numbers of the
// module's. What a module calls but does not have (a text that was cut off) is listed in `missing`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/hlo/array_shape.h"
#include "workloads/hlo/device_groups.h"

namespace podsim::workloads::hlo {

inline constexpr std::uint32_t kNothing = 0xffffffff;

struct Attribute {
    std::string key;
    std::string value;  ///< as written, without blanks at its ends
};

/// The numbers of `{1,0}`. Throws sim::InputError.
std::vector<std::int64_t> numbers_in(std::string_view braces);

struct Instruction {
    std::string name;
    std::string opcode;  ///< `all-gather-start`, `fusion`
    Shape shape;
    std::vector<std::uint32_t> operands;
    /// What stands in the parentheses of a parameter (its number), a constant (its value), an iota.
    std::string literal;
    std::vector<Attribute> attributes;
    std::vector<std::uint32_t> called;  ///< in the order of the attributes that name them
    std::uint32_t members = kNothing;   ///< of a collective: who takes part, in Module::members
    int line = 0;
    int column = 0;

    /// What is written behind `key=`; nothing where it is not there.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const;
    /// The text without quotes; empty where it is not there.
    [[nodiscard]] std::string_view text(std::string_view key) const;
    /// Those of `{1,0}`; empty where it is not there. Throws sim::InputError without a place (Module::numbers has it).
    [[nodiscard]] std::vector<std::int64_t> numbers(std::string_view key) const;
    /// `metadata={op_name="..."}`; empty where there is none.
    [[nodiscard]] std::string_view op_name() const;
};

struct Computation {
    std::string name;
    std::vector<Instruction> instructions;
    std::uint32_t root = kNothing;
    std::vector<std::pair<std::int64_t, std::uint32_t>>
        parameters;      ///< number, instruction; sorted
    std::string thread;  ///< execution_thread: `sparsecore`; empty: the main one
    int line = 0;
    int column = 0;

    [[nodiscard]] const Instruction& root_instruction() const { return instructions[root]; }
    /// The instruction `parameter(number)`; nothing where there is none.
    [[nodiscard]] const Instruction* parameter(std::int64_t number) const;
};

/// Who takes part in collectives that write the same of it.
struct Members {
    DeviceGroups groups;
    DevicePairs pairs;
    std::int64_t named = 0;  ///< the largest id, and one more
};

/// The largest number, and one more, that groups and pairs of a module name, by what they count (device_counts.h); 0: none.
struct NamedIds {
    std::int64_t replicas = 0;
    std::int64_t partitions = 0;
    std::int64_t devices = 0;
};

struct Module {
    std::string name;
    std::string file;  ///< for errors
    int line = 1;      ///< of its header
    std::vector<Attribute> attributes;
    std::vector<Computation> computations;
    std::uint32_t entry = kNothing;    ///< kNothing: the text has none
    std::vector<std::string> missing;  ///< computations that are called and not there, by name
    bool cut_off = false;              ///< the text ends within a computation
    std::vector<Members> members;
    NamedIds ids;
    std::optional<std::int64_t> replicas;    ///< replica_count of the header
    std::optional<std::int64_t> partitions;  ///< num_partitions

    [[nodiscard]] bool is_scheduled() const;
    /// The header's text behind `key=`; nothing where it has none.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const;
    /// num_partitions x replica_count of the header, of which one that is not stated is 1; nothing where neither is.
    [[nodiscard]] std::optional<std::int64_t> stated_devices() const;
    /// Instruction::numbers, with errors at the instruction.
    [[nodiscard]] std::vector<std::int64_t> numbers(const Instruction& at,
                                                    std::string_view key) const;
    /// An error at an instruction.
    [[nodiscard]] sim::InputError error(const Instruction& at, const std::string& problem,
                                        const std::string& remedy = {}) const;
};

}  // namespace podsim::workloads::hlo
