// The lowest library by itself.
#include <iostream>
#include <string_view>

#include "sim/base/nearest.h"

int main() {
    constexpr std::string_view kAxes[] = {"fsdp", "tensor"};
    std::cout << podsim::sim::unknown_name("axis", "tensr", kAxes).what() << '\n';
}
