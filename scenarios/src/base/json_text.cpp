#include "scenarios/src/base/json_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <string_view>

namespace podsim::scenarios {
namespace {

std::string number_text(double number) {
    if (!std::isfinite(number)) {
        return "null";
    }
    std::string text = fmt::format("{}", number);
    if (text.find_first_of(".e") == std::string::npos) {
        text += ".0";
    }
    return text;
}

class Writer {
public:
    explicit Writer(std::optional<int> indent) : indent_(indent) {}

    void write(const Json& json) {
        if (json.is_structured() && !json.empty()) {
            write_entries(json);
        } else if (json.is_number_float()) {
            text_ += number_text(json.get<double>());
        } else {
            text_ += json.dump(-1, ' ', false, Json::error_handler_t::replace);
        }
    }

    std::string take() { return std::move(text_); }

private:
    void write_entries(const Json& json) {
        const bool map = json.is_object();
        text_ += map ? '{' : '[';
        ++depth_;
        bool first = true;
        for (const auto& [key, value] : json.items()) {
            text_ += first ? "" : ",";
            first = false;
            new_line();
            if (map) {
                write(key);
                text_ += indent_ ? ": " : ":";
            }
            write(value);
        }
        --depth_;
        new_line();
        text_ += map ? '}' : ']';
    }

    void new_line() {
        if (indent_) {
            text_ += '\n';
            text_.append(static_cast<std::size_t>(*indent_) * static_cast<std::size_t>(depth_),
                         ' ');
        }
    }

    const std::optional<int> indent_;
    int depth_ = 0;
    std::string text_;
};

std::string text_of(const Json& json, std::optional<int> indent) {
    Writer writer(indent);
    writer.write(json);
    return writer.take();
}

}  // namespace

std::string json_text(const Json& json, int indent) {
    return text_of(json, indent);
}

std::string json_line(const Json& json) {
    return text_of(json, std::nullopt);
}

std::string yaml_scalar(const std::string& text) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-%*() ";
    const auto in = [](std::string_view set, char c) { return set.find(c) != std::string::npos; };
    const bool plain = !text.empty() && text != "null" && text != "~" && text.back() != ' ' &&
                       !in("-%*() ", text.front()) &&
                       std::ranges::all_of(text, [&](char c) { return in(kPlain, c); });
    return plain ? text : Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace podsim::scenarios
