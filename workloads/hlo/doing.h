// The kind of work that an instruction is for a chip.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

enum class Doing {
    /// Names, tuples, constants, views; also the end of an asynchronous instruction.
    nothing,
    /// Computes, with loads and stores.
    kernel,
    /// A collective, or a fusion that holds collectives beside its computation.
    collective,
    host_copy,  ///< between HBM and the host's memory
    prefetch,   ///< asynchronous, between HBM and VMEM
    loop,
    call,
    branches,
};

Doing doing_of(const Module& module, const Computation& computation,
               const Instruction& instruction);

/// True if another instruction, `X-done` or `async-done`, waits for this one.
bool is_start(const Instruction& instruction);
bool is_done(const Instruction& instruction);
/// Returns `all-gather` for `all-gather-start` and `all-gather-done`; the opcode for others.
std::string_view base_opcode(const Instruction& instruction);
/// True for `all-gather`, `collective-permute` and the like, without `-start`.
bool is_collective_opcode(std::string_view opcode);
/// True if each element of the result is made from the elements at the same position, or is a copy
/// of one: XLA fuses these into their neighbours.
bool is_elementwise(const Instruction& instruction);
/// True if the costs are known. For others (`fft`, `cholesky`, new opcodes of XLA) only the bytes
/// are.
bool is_known_opcode(const Instruction& instruction);
/// True for the same data under another name or shape.
bool is_view(const Instruction& instruction);

/// Returns the computation that a fusion or an asynchronous wrapper carries out; null for other
/// instructions, and if the text does not have it.
const Computation* carried_out(const Module& module, const Instruction& instruction);

/// Returns the final result of an `X-start`: for copy-start the copy, for others the element behind
/// the operands.
const Shape& started(const Instruction& instruction);

enum class HostWay { to_host, to_chip };
/// Returns the direction of a host_copy.
HostWay way_of(const Instruction& instruction);

/// Returns the users of each instruction: those of its computation that read its result.
std::vector<std::vector<std::uint32_t>> users_of(const Computation& computation);

}  // namespace podsim::workloads::hlo
