// What kind of thing an instruction is to a chip.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

enum class Doing {
    nothing,     ///< names, tuples, constants, views; also the end of something asynchronous
    kernel,      ///< computes, with loads and stores
    collective,  ///< or a fusion that holds some, beside what it computes
    host_copy,   ///< between HBM and the host's memory
    prefetch,    ///< asynchronous, between HBM and VMEM
    loop,
    call,
    branches,
};

Doing doing_of(const Module& module, const Computation& computation,
               const Instruction& instruction);

/// Begins what another instruction, `X-done` or `async-done`, waits for.
bool is_start(const Instruction& instruction);
bool is_done(const Instruction& instruction);
/// `all-gather` of `all-gather-start`; else the opcode.
std::string_view base_opcode(const Instruction& instruction);
/// `all-gather`, `collective-permute` ..., without `-start`.
bool is_collective_opcode(std::string_view opcode);
/// Each element of the result is made from the elements at the same place, or is a copy of one: XLA fuses it into its neighbours.
bool is_elementwise(const Instruction& instruction);
/// What it costs is known. Of others (`fft`, `cholesky`, those that XLA has got since) no more than their bytes is.
bool is_known_opcode(const Instruction& instruction);
/// The same data under another name or shape.
bool is_view(const Instruction& instruction);

/// The computation that a fusion or an asynchronous wrapper carries out; nothing of others, and where the text does not have it.
const Computation* carried_out(const Module& module, const Instruction& instruction);

/// What `X-start` results in when it has ended: of copy-start the copy, of others what follows the operands.
const Shape& started(const Instruction& instruction);

enum class HostWay { to_host, to_chip };
/// Of a host_copy.
HostWay way_of(const Instruction& instruction);

/// Of each instruction, those of its computation that read its result.
std::vector<std::vector<std::uint32_t>> users_of(const Computation& computation);

}  // namespace podsim::workloads::hlo
