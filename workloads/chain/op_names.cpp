#include "workloads/chain/op_names.h"

#include <initializer_list>

namespace podsim::workloads {
namespace {

/// A step has thousands of names, which few read: put together without a format.
std::string in_a_row(std::initializer_list<std::string_view> words) {
    std::size_t length = 0;
    for (const std::string_view word : words) {
        length += word.size();
    }
    std::string row;
    row.reserve(length);
    for (const std::string_view word : words) {
        row += word;
    }
    return row;
}

}  // namespace

OpLabel OpNames::label(std::string_view what) const {
    return under_way_.pass == Pass::optimizer
               ? OpLabel{in_a_row({under_way_.name, " ", what}), under_way_.pass, under_way_.layer}
               : label(under_way_.name, under_way_.pass, under_way_.layer, microbatch_, what);
}

OpLabel OpNames::label(std::string_view part, Pass pass, int layer, int microbatch,
                       std::string_view what) const {
    const std::string of =
        several_microbatches_ ? "microbatch " + std::to_string(microbatch) + ' ' : std::string();
    return {in_a_row({of, part, " ", to_string(pass), " ", what}), pass, layer};
}

}  // namespace podsim::workloads
