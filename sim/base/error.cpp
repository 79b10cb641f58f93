#include "sim/base/error.h"

#include <utility>

namespace podsim::sim {
namespace {

std::string compose(const std::string& problem, const std::string& remedy, const SourceMark& mark) {
    std::string text;
    if (!mark.file.empty()) {
        text += mark.file + ':';
        if (mark.line > 0) {
            text += std::to_string(mark.line) + ':' + std::to_string(mark.column) + ':';
        }
        text += ' ';
    }
    text += problem;
    if (!remedy.empty()) {
        text += "; " + remedy;
    }
    return text;
}

}  // namespace

InputError::InputError(std::string problem, std::string remedy, SourceMark mark)
    : std::runtime_error(compose(problem, remedy, mark)),
      problem_(std::move(problem)),
      remedy_(std::move(remedy)),
      mark_(std::move(mark)) {}

InputError InputError::at(const SourceMark& mark) const {
    return mark_.file.empty() ? InputError(problem_, remedy_, mark) : *this;
}

InputErrors::InputErrors(std::vector<InputError> all)
    : InputError(all.front()), all_(std::move(all)) {
    for (const InputError& error : all_) {
        if (!text_.empty()) {
            text_ += '\n';
        }
        text_ += error.what();
    }
}

std::vector<InputError> errors_in(const InputError& error) {
    const auto* const several = dynamic_cast<const InputErrors*>(&error);
    return several == nullptr ? std::vector{error} : several->all();
}

}  // namespace podsim::sim
