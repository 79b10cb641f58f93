// Lines of a record that say themselves whether they are as they were written.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sim/base/error.h"

namespace podsim::scenarios {

/// A JSON object as a line, with a last member that it has besides: the CRC-32 (that of zlib) of all that stands before it,
/// `{...,"crc32":"1a2b3c4d"}`. Of a line that is changed in one bit, or in bits of four neighbouring bytes, it is another.
std::string with_check(std::string line);

/// Reads the lines of a record.
class LineChecks {
public:
    /// Throws sim::InputError at the line's place where its check is of another text. A line without one is counted: releases before
    /// this check wrote none. A member that is a check but for some bits of its name is one.
    void look_at(std::string_view line, const sim::SourceMark& mark);
    [[nodiscard]] std::size_t unchecked() const { return unchecked_; }
    /// What to say of these lines of a file; empty where there are none.
    [[nodiscard]] std::string warning(const std::string& path) const;

private:
    std::size_t unchecked_ = 0;
};

/// The line without its check.
std::string_view without_check(std::string_view line);

}  // namespace podsim::scenarios
