#include "workloads/hlo/read_module.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "workloads/hlo/device_counts.h"
#include "workloads/hlo/endless_calls.h"
#include "workloads/hlo/instruction_rules.h"
#include "workloads/hlo/operands.h"

namespace podsim::workloads::hlo {
namespace {

constexpr const char* kDump =
    "give the text of `compiled.as_text()`, or a *after_optimizations.txt of XLA_FLAGS="
    "--xla_dump_to=DIR";

/// Attributes that name computations.
constexpr std::array<std::string_view, 9> kCalls{"calls",
                                                 "to_apply",
                                                 "condition",
                                                 "body",
                                                 "branch_computations",
                                                 "true_computation",
                                                 "false_computation",
                                                 "select",
                                                 "scatter"};

/// The longest opcode of XLA has 29 letters.
constexpr std::size_t kLongestOpcode = 100;

class Reader {
public:
    Reader(std::string_view written, std::string file) : text_(written, file), written_(written) {
        module_.file = std::move(file);
    }
    Module read();

private:
    void read_header();
    void skip_tables();
    void read_computation();
    bool read_instruction(Computation& computation, InstructionNumbers& numbers);
    void index_parameters(Computation& computation);
    void read_attributes(std::vector<Attribute>& attributes);
    void resolve_calls();
    void find_entry();

    Text text_;
    std::string_view written_;
    Module module_;
    std::unordered_map<std::string, std::uint32_t> computations_;
};

Module Reader::read() {
    if (text_.at("module") || text_.at("builtin.module") || text_.at("#")) {
        throw text_.error("this is MLIR (StableHLO), which is not partitioned yet", kDump);
    }
    if (text_.at_end()) {
        throw text_.error("the file is empty", kDump);
    }
    read_header();
    skip_tables();
    while (!text_.at_end()) {
        read_computation();
    }
    if (module_.computations.empty()) {
        throw text_.error("there is no computation in this module", kDump);
    }
    resolve_calls();
    refuse_endless_calls(module_);
    find_entry();
    read_members(module_);
    return std::move(module_);
}

void Reader::read_header() {
    if (!text_.take("HloModule")) {
        return;
    }
    module_.line = text_.line();
    module_.name = text_.name();
    read_attributes(module_.attributes);
}

/// Skips `FileNames`, `FunctionNames`, `FileLocations`, `StackFrames`, whose lines are a number and
/// a text.
void Reader::skip_tables() {
    for (bool found = true; found;) {
        found = false;
        for (const char* const table :
             {"FileNames", "FunctionNames", "FileLocations", "StackFrames"}) {
            if (text_.take(table)) {
                found = true;
                while (text_.peek() >= '0' && text_.peek() <= '9') {
                    text_.skip_line();
                }
            }
        }
    }
}

void Reader::read_computation() {
    text_.skip_to_text();
    const sim::SourceMark start = text_.mark();
    const bool entry = text_.take("ENTRY");
    Computation computation;
    computation.line = start.line;
    computation.column = start.column;
    if (text_.peek() != '{') {
        try {
            computation.name = text_.name();
        } catch (const sim::InputError&) {
            throw sim::InputError("expected a computation", kDump, start);
        }
    }
    if (text_.peek() != '{') {
        if (text_.peek() != '(') {
            throw sim::InputError(
                fmt::format("'{}' is no computation of HLO text", computation.name), kDump, start);
        }
        text_.balanced("{-");
        if (text_.take("-")) {
            text_.expect(">");
            read_shape(text_);
        }
    }
    text_.expect("{");
    InstructionNumbers numbers;
    while (!text_.take("}")) {
        if (!read_instruction(computation, numbers)) {
            module_.cut_off = true;
            text_.go_to(written_.size());
            break;
        }
    }
    std::vector<Attribute> attributes;
    read_attributes(attributes);
    for (const Attribute& attribute : attributes) {
        if (attribute.key == "execution_thread") {
            computation.thread = attribute.value;
            std::erase(computation.thread, '"');
        }
    }
    if (computation.instructions.empty()) {
        if (module_.cut_off) {
            return;
        }
        throw sim::InputError(
            fmt::format("the computation '{}' has no instructions", computation.name), {}, start);
    }
    index_parameters(computation);
    if (computation.root == kNothing) {
        computation.root = static_cast<std::uint32_t>(computation.instructions.size() - 1);
    }
    const auto number = static_cast<std::uint32_t>(module_.computations.size());
    if (!computations_.emplace(computation.name, number).second) {
        throw sim::InputError(fmt::format("two computations are named '{}'", computation.name), {},
                              start);
    }
    if (entry && module_.entry != kNothing) {
        throw sim::InputError(
            fmt::format("'{}' is a second ENTRY; '{}' is the first", computation.name,
                        module_.computations[module_.entry].name),
            {}, start);
    }
    if (entry) {
        module_.entry = number;
    }
    module_.computations.push_back(std::move(computation));
}

/// Returns false if the text ends within the instruction.
bool Reader::read_instruction(Computation& computation, InstructionNumbers& numbers) {
    if (text_.at_end()) {
        return false;
    }
    const std::size_t start = text_.offset();
    const std::size_t before = computation.instructions.size();
    const bool root = text_.take("ROOT");
    Instruction instruction;
    if (text_.at_end()) {
        return false;
    }
    const sim::SourceMark mark = text_.mark();
    instruction.line = mark.line;
    instruction.column = mark.column;
    try {
        instruction.name = text_.name();
        text_.expect("=");
        instruction.shape = read_shape(text_);
        instruction.opcode = std::string(text_.word());
        if (instruction.opcode.empty() || instruction.opcode.size() > kLongestOpcode) {
            throw text_.error(
                instruction.opcode.empty()
                    ? "expected an opcode"
                    : fmt::format("an opcode of more than {} letters", kLongestOpcode));
        }
        text_.expect("(");
        read_operands(text_, instruction, computation, numbers);
        text_.expect(")");
        read_attributes(instruction.attributes);
    } catch (const sim::InputError&) {
        // This is the last line of a text that is cut off.
        if (written_.find('\n', start) == std::string_view::npos || text_.at_end()) {
            computation.instructions.resize(before);
            return false;
        }
        throw;
    }
    if (const std::string wrong = wrong_instruction(instruction, computation); !wrong.empty()) {
        throw sim::InputError(wrong, {}, mark);
    }
    const auto number = static_cast<std::uint32_t>(computation.instructions.size());
    if (!numbers.emplace(instruction.name, number).second) {
        throw sim::InputError(fmt::format("two instructions are named '{}'", instruction.name), {},
                              mark);
    }
    if (root && computation.root != kNothing) {
        throw sim::InputError(fmt::format("'{}' is a second ROOT", instruction.name), {}, mark);
    }
    if (root) {
        computation.root = number;
    }
    computation.instructions.push_back(std::move(instruction));
    return true;
}

void Reader::index_parameters(Computation& computation) {
    for (std::uint32_t i = 0; i < computation.instructions.size(); ++i) {
        const Instruction& each = computation.instructions[i];
        if (each.opcode != "parameter") {
            continue;
        }
        std::int64_t number = -1;
        const char* const end = each.literal.data() + each.literal.size();
        const auto [behind, failure] = std::from_chars(each.literal.data(), end, number);
        if (failure != std::errc() || behind != end || number < 0) {
            throw module_.error(each,
                                fmt::format("a parameter of the number '{:.24}'", each.literal));
        }
        computation.parameters.emplace_back(number, i);
    }
    std::ranges::sort(computation.parameters);
    const auto twice = std::ranges::adjacent_find(
        computation.parameters, {}, [](const auto& parameter) { return parameter.first; });
    if (twice != computation.parameters.end()) {
        throw module_.error(computation.instructions[std::next(twice)->second],
                            fmt::format("a second parameter of the number {}", twice->first));
    }
    for (std::size_t i = 0; i < computation.parameters.size() && !module_.cut_off; ++i) {
        const auto& [number, instruction] = computation.parameters[i];
        if (number != static_cast<std::int64_t>(i)) {
            throw module_.error(
                computation.instructions[instruction],
                fmt::format("a parameter of the number {}, and none of {}", number, i));
        }
    }
}

void Reader::read_attributes(std::vector<Attribute>& attributes) {
    const std::size_t begin = text_.offset();
    while (text_.take(",")) {
        Attribute& attribute = attributes.emplace_back();
        attribute.key = std::string(text_.word());
        text_.expect("=");
        // A mesh with its devices, `mesh['x'=2], device_ids=(..) {'x'}`, contains a comma and a
        // blank.
        if (attribute.key == "replica_groups" && text_.at("mesh")) {
            const std::size_t start = text_.offset();
            text_.balanced("{");
            text_.balanced(",\n");
            attribute.value = std::string(written_.substr(start, text_.offset() - start));
            continue;
        }
        attribute.value = std::string(text_.balanced(",}\n"));
    }
    if (const std::string twice = key_twice(attributes); !twice.empty()) {
        text_.go_to(begin);
        throw text_.error(fmt::format("'{:.24}=' twice", twice));
    }
}

void Reader::resolve_calls() {
    std::unordered_set<std::string> missing;
    for (Computation& computation : module_.computations) {
        for (Instruction& instruction : computation.instructions) {
            for (const Attribute& attribute : instruction.attributes) {
                if (std::ranges::find(kCalls, attribute.key) == kCalls.end()) {
                    continue;
                }
                Text names(attribute.value);
                const bool several = names.take("{");
                while (!names.at_end() && names.peek() != '}') {
                    names.take("%");
                    std::string name(names.word());
                    if (name.empty()) {
                        throw module_.error(instruction,
                                            fmt::format("{}: expected a name", attribute.key));
                    }
                    const auto found = computations_.find(name);
                    if (found != computations_.end()) {
                        instruction.called.push_back(found->second);
                    } else {
                        instruction.called.push_back(kNothing);
                        if (missing.insert(name).second) {
                            module_.missing.push_back(std::move(name));
                        }
                    }
                    if (!several || !names.take(",")) {
                        break;
                    }
                }
            }
            if (const std::string wrong = wrong_calls(instruction); !wrong.empty()) {
                throw module_.error(instruction, wrong);
            }
        }
    }
}

/// Keeps the computation marked ENTRY. If a complete text marks none, the entry is the last
/// computation that no other calls.
void Reader::find_entry() {
    if (module_.entry != kNothing || module_.cut_off || !module_.missing.empty()) {
        return;
    }
    std::vector<bool> called(module_.computations.size());
    for (const Computation& computation : module_.computations) {
        for (const Instruction& instruction : computation.instructions) {
            for (const std::uint32_t callee : instruction.called) {
                called[callee] = true;
            }
        }
    }
    for (std::size_t i = called.size(); i-- > 0;) {
        if (!called[i]) {
            module_.entry = static_cast<std::uint32_t>(i);
            return;
        }
    }
}

}  // namespace

Module read_module(std::string_view text, const std::string& file) {
    return Reader(text, file).read();
}

}  // namespace podsim::workloads::hlo
