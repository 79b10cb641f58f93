// An HLO module as printed: computations, which consist of instructions.
//
// Operands are indices into the instruction's own computation; called computations are indices into
// the module. `missing` lists the computations that a module calls but does not have, as in a text
// that is cut off.
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
    /// The text as written, without blanks at its ends.
    std::string value;
};

/// Returns the numbers of `{1,0}`. Throws sim::InputError.
std::vector<std::int64_t> numbers_in(std::string_view braces);

struct Instruction {
    std::string name;
    std::string opcode;  ///< `all-gather-start`, `fusion`
    Shape shape;
    std::vector<std::uint32_t> operands;
    /// Contents of the parentheses of a parameter (its number), a constant (its value) or an iota.
    std::string literal;
    std::vector<Attribute> attributes;
    /// Called computations, in the order of the attributes that name them.
    std::vector<std::uint32_t> called;
    /// Index into Module::members of the devices that take part in a collective.
    std::uint32_t members = kNothing;
    int line = 0;
    int column = 0;

    /// Returns the text behind `key=`; nothing if the key is absent.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const;
    /// Returns the value without quotes; empty if the key is absent.
    [[nodiscard]] std::string_view text(std::string_view key) const;
    /// Returns the numbers of a value such as `{1,0}`; empty if the key is absent. Throws
    /// sim::InputError without a source position (Module::numbers adds it).
    [[nodiscard]] std::vector<std::int64_t> numbers(std::string_view key) const;
    /// Returns the name of `metadata={op_name="..."}`; empty if there is none.
    [[nodiscard]] std::string_view op_name() const;
};

struct Computation {
    std::string name;
    std::vector<Instruction> instructions;
    std::uint32_t root = kNothing;
    /// Number and instruction of each parameter, sorted.
    std::vector<std::pair<std::int64_t, std::uint32_t>> parameters;
    /// The execution_thread, such as `sparsecore`; empty for the main thread.
    std::string thread;
    int line = 0;
    int column = 0;

    [[nodiscard]] const Instruction& root_instruction() const { return instructions[root]; }
    /// Returns the instruction `parameter(number)`; nothing if there is none.
    [[nodiscard]] const Instruction* parameter(std::int64_t number) const;
};

/// The devices that take part in a collective. Collectives that write them alike use one entry.
struct Members {
    DeviceGroups groups;
    DevicePairs pairs;
    /// One more than the largest id.
    std::int64_t named = 0;
};

/// One more than the largest number that groups and pairs of a module name, for each thing that
/// they may count (device_counts.h); 0 if none does.
struct NamedIds {
    std::int64_t replicas = 0;
    std::int64_t partitions = 0;
    std::int64_t devices = 0;
};

struct Module {
    std::string name;
    std::string file;  ///< for errors
    /// Line of the header.
    int line = 1;
    std::vector<Attribute> attributes;
    std::vector<Computation> computations;
    /// The entry computation; kNothing if the text has none.
    std::uint32_t entry = kNothing;
    /// Names of the computations that are called but absent.
    std::vector<std::string> missing;
    /// True if the text ends within a computation.
    bool cut_off = false;
    std::vector<Members> members;
    NamedIds ids;
    std::optional<std::int64_t> replicas;    ///< replica_count of the header
    std::optional<std::int64_t> partitions;  ///< num_partitions of the header

    [[nodiscard]] bool is_scheduled() const;
    /// Returns the header's text behind `key=`; nothing if the key is absent.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const;
    /// Returns num_partitions x replica_count of the header, where an absent one counts as 1;
    /// nothing if both are absent.
    [[nodiscard]] std::optional<std::int64_t> stated_devices() const;
    /// Returns what Instruction::numbers returns; its errors name the instruction's source
    /// position.
    [[nodiscard]] std::vector<std::int64_t> numbers(const Instruction& at,
                                                    std::string_view key) const;
    /// Returns an error at the source position of an instruction.
    [[nodiscard]] sim::InputError error(const Instruction& at, const std::string& problem,
                                        const std::string& remedy = {}) const;
};

}  // namespace podsim::workloads::hlo
