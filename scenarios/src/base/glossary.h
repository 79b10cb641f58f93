// The terms of the field that reports, pages and documentation use, each with its meaning.
#pragma once

#include <span>
#include <string_view>

namespace podsim::scenarios {

struct Term {
    std::string_view name;
    std::string_view meaning;
};

/// Returns all terms in alphabetical order. docs/glossary.md, `podsim help TERM` and the tooltips
/// of pages show them.
std::span<const Term> glossary();

/// Returns the term of that name in upper or lower case; null if there is none.
const Term* find_term(std::string_view name);

}  // namespace podsim::scenarios
