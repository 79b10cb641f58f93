// Lines of a record that carry a checksum of their own text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sim/base/error.h"

namespace podsim::scenarios {

/// Returns a line, a JSON object, with one more member at its end: the CRC-32 (that of zlib) of the
/// text before it, `{...,"crc32":"1a2b3c4d"}`. A change of one bit, or of bits in four neighbouring
/// bytes, changes it.
std::string with_check(std::string line);

/// Checks the lines of a record.
class LineChecks {
public:
    /// Throws sim::InputError at the line if its checksum is not that of its text. Counts a line
    /// without a checksum: releases before this check wrote none. A member counts as a checksum
    /// even if a few bits of its name are wrong.
    void look_at(std::string_view line, const sim::SourceMark& mark);
    [[nodiscard]] std::size_t unchecked() const { return unchecked_; }
    /// Returns a warning about the unchecked lines of a file; empty if there are none.
    [[nodiscard]] std::string warning(const std::string& path) const;

private:
    std::size_t unchecked_ = 0;
};

/// Returns the line without its checksum.
std::string_view without_check(std::string_view line);

}  // namespace podsim::scenarios
