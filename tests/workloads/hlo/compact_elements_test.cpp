// Modules that write get-tuple-elements as `%p#1` count the same as those with a line for each.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "tests/checkout.h"
#include "workloads/hlo/read_module.h"
#include "workloads/hlo/totals.h"

namespace podsim::workloads::hlo {
namespace {

// XLA's default form of dumps since 13 July 2026. Ten iterations have a matmul of 1024^3 and an
// AllReduce over 4 devices.
constexpr const char* kCompactStep = R"(HloModule jit_step, is_scheduled=true, num_partitions=4
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}
%body (p: (s32[], f32[1024,1024])) -> (s32[], f32[1024,1024]) {
  %p = (s32[], f32[1024,1024]{1,0}) parameter(0)
  %c1 = s32[] constant(1)
  %n = s32[] add(%p#0, %c1)
  %d = f32[1024,1024]{1,0} dot(%p#1, %p#1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %ar = f32[1024,1024]{1,0} all-reduce(%d), channel_id=1, replica_groups=[1,4]<=[4], use_global_device_ids=true, to_apply=%add
  ROOT %t = (s32[], f32[1024,1024]{1,0}) tuple(%n, %ar)
}
%cond (p: (s32[], f32[1024,1024])) -> pred[] {
  %p = (s32[], f32[1024,1024]{1,0}) parameter(0)
  %c10 = s32[] constant(10)
  ROOT %lt = pred[] compare(%p#0, %c10), direction=LT
}
ENTRY %main (x: f32[1024,1024]) -> f32[1024,1024] {
  %x = f32[1024,1024]{1,0} parameter(0)
  %c0 = s32[] constant(0)
  %t0 = (s32[], f32[1024,1024]{1,0}) tuple(%c0, %x)
  %w = (s32[], f32[1024,1024]{1,0}) while(%t0), condition=%cond, body=%body
  ROOT %r = f32[1024,1024]{1,0} get-tuple-element(%w), index=1
}
)";

// There are 10 x 2 x 1024^3 FLOPs; an AllReduce of 4 MiB gives each of 4 devices 2 x 3/4 of it.
TEST(HloCompactElements, CountAsTheyDoWithLinesOfTheirOwn) {
    const Totals totals = totals_of(read_module(kCompactStep, "m"), {}, {});
    EXPECT_EQ(totals.devices, 4);
    EXPECT_EQ(totals.matmul_flops.value(), 10 * 2.0 * 1024 * 1024 * 1024);
    const CollectiveTotal& reduce = totals.collectives.at({"all-reduce", "[1,4]<=[4]"});
    EXPECT_EQ(reduce.count, 10);
    EXPECT_EQ(reduce.received.value(), 10 * 2 * 0.75 * 4 * 1024 * 1024);
    ASSERT_EQ(totals.loops.size(), 1U);
    EXPECT_EQ(totals.loops[0].trips, 10);
}

std::string file_text(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Returns the text as XLA prints it compactly: no get-tuple-element has a line except a ROOT, and
/// its readers name the tuple and the numbers. The given text must have one instruction a line, and
/// unique names of elements in each computation.
std::string compacted(const std::string& text, int& elements) {
    static const std::regex element(
        R"(^\s*%?([\w.-]+) = .* get-tuple-element\((?:[^()]*\s)?%?([\w.#-]+)\), index=(\d+).*)");
    static const std::regex instruction(R"(^(\s*(?:ROOT )?%?[\w.-]+ = .*? [a-z][\w-]*\()(.*)$)");
    static const std::regex name(R"(%?[\w.-]+)");
    std::map<std::string, std::string> names;
    std::stringstream lines(text);
    std::string result;
    for (std::string line; std::getline(lines, line);) {
        std::smatch found;
        if (line.ends_with("{")) {
            names.clear();
        } else if (std::regex_match(line, found, element) &&
                   line.find("ROOT") == std::string::npos) {
            const std::string base = found[2];
            names[found[1]] = (names.contains(base) ? names.at(base) : base) + '#' + found[3].str();
            ++elements;
            continue;
        } else if (std::regex_match(line, found, instruction)) {
            const std::string rest = found[2];
            const std::size_t end = std::min(rest.find(')'), rest.size());
            std::string operands;
            auto from = rest.begin();
            const auto last = rest.begin() + static_cast<std::ptrdiff_t>(end);
            for (std::sregex_iterator each(from, last, name); each != std::sregex_iterator();
                 ++each) {
                std::string word = each->str();
                const std::string plain = word.starts_with('%') ? word.substr(1) : word;
                operands += each->prefix();
                operands += names.contains(plain) ? '%' + names.at(plain) : word;
                from = (*each)[0].second;
            }
            line = found[1].str() + operands + std::string(from, rest.end());
        }
        result += line + '\n';
    }
    return result;
}

/// Returns all counts as text, or the message of a refusal without its position.
std::string counted(const std::string& text) {
    std::stringstream out;
    out.precision(17);
    try {
        const Totals totals = totals_of(read_module(text, "m"), {}, {});
        out << totals.devices << ' ' << totals.matmuls << ' ' << totals.matmul_flops.value() << ' '
            << totals.attention_flops.value() << ' ' << totals.vector.value() << ' '
            << totals.hbm.value() << ' ' << totals.parameters.value() << ' '
            << totals.host_bytes.value();
        for (const auto& [key, total] : totals.collectives) {
            out << '\n'
                << key.first << ' ' << key.second << ' ' << total.count << ' '
                << total.result.value() << ' ' << total.received.value();
        }
        for (const LoopTotal& loop : totals.loops) {
            out << '\n' << loop.name << ' ' << loop.trips << ' ' << loop.runs;
        }
    } catch (const sim::InputError& error) {
        out << error.problem();
    }
    return out.str();
}

// The modules of the repository are rewritten here independently of the reader.
TEST(HloCompactElements, EveryModuleCountsTheSameCompactly) {
    std::vector<std::filesystem::path> files{source_folder() + "/scenarios/examples/fsdp-mlp.hlo"};
    for (const auto& entry :
         std::filesystem::directory_iterator(source_folder() + "/tests/fuzz/corpus/hlo")) {
        files.push_back(entry.path());
    }
    int elements = 0;
    for (const std::filesystem::path& file : files) {
        const std::string text = file_text(file);
        EXPECT_EQ(counted(compacted(text, elements)), counted(text)) << file;
    }
    EXPECT_GE(elements, 15);
}

}  // namespace
}  // namespace podsim::workloads::hlo
