#include "workloads/chain/op_names.h"

#include <fmt/format.h>

namespace podsim::workloads {

OpLabel OpNames::label(std::string_view what) const {
    return under_way_.pass == Pass::optimizer
               ? OpLabel{fmt::format("{} {}", under_way_.name, what), under_way_.pass,
                         under_way_.layer}
               : label(under_way_.name, under_way_.pass, under_way_.layer, microbatch_, what);
}

OpLabel OpNames::label(std::string_view part, Pass pass, int layer, int microbatch,
                       std::string_view what) const {
    return {fmt::format("{}{} {} {}",
                        several_microbatches_ ? fmt::format("microbatch {} ", microbatch) : "",
                        part, to_string(pass), what),
            pass, layer};
}

}  // namespace podsim::workloads
