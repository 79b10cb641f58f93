#include "tests/house/class_size.h"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace podsim::house {
namespace {

std::string code_of(const std::vector<std::string>& lines) {
    std::string code;
    for (const std::string& line : lines) {
        if (!line.starts_with('#')) {
            code += line.substr(0, line.find("//")) + ' ';
        }
    }
    return code;
}

/// Returns the class that a head such as `class Chain
/// final : public Base` opens; empty if it opens none.
std::string class_of(const std::string& head) {
    std::istringstream words(head);
    std::string before;
    for (std::string word; words >> word; before = word) {
        if ((before == "class" || before == "struct") && !head.starts_with("enum")) {
            return word.substr(0, word.find(':'));
        }
    }
    return {};
}

/// True if the statement declares a function: its parameters come before any initialiser.
bool declares_function(std::string_view statement) {
    const std::size_t parenthesis = statement.find('(');
    const std::size_t operators = statement.find("operator");
    const std::size_t initialiser =
        operators == statement.npos ? statement.find('=') : statement.npos;
    return parenthesis != statement.npos && parenthesis < initialiser;
}

/// Returns the text without blanks at its ends and without a leading `public:` and the like.
std::string trimmed(std::string text) {
    for (const std::string label : {"public:", "private:", "protected:"}) {
        if (const std::size_t at = text.find(label); at != text.npos) {
            text.erase(0, at + label.size());
        }
    }
    text.erase(0, text.find_first_not_of(' '));
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

}  // namespace

std::map<std::string, std::vector<std::string>> functions_of_classes(
    const std::vector<std::string>& lines) {
    std::map<std::string, std::vector<std::string>> functions;
    // Owner of each open brace: a class's name, or empty.
    std::vector<std::string> open;
    std::string statement;
    const auto end_statement = [&] {
        if (!open.empty() && !open.back().empty() && declares_function(statement)) {
            functions[open.back()].push_back(trimmed(statement.substr(0, statement.find('('))));
        }
        statement.clear();
    };
    for (const char c : code_of(lines)) {
        if (c == '{') {
            const std::string name = class_of(trimmed(statement));
            if (!name.empty()) {
                functions[name];
                statement.clear();
            } else {
                end_statement();
            }
            open.push_back(name);
        } else if (c == '}') {
            if (!open.empty()) {
                open.pop_back();
            }
            statement.clear();
        } else if (c == ';') {
            end_statement();
        } else {
            statement += c;
        }
    }
    return functions;
}

}  // namespace podsim::house
