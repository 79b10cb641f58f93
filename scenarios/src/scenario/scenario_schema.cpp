#include "scenarios/src/scenario/scenario_schema.h"

#include <algorithm>
#include <fmt/format.h>

#include "scenarios/src/scenario/probes.h"
#include "scenarios/src/scenario/schema.h"

namespace podsim::scenarios {
namespace {

constexpr const char* kCountPattern =
    "^ *[0-9.]+([eE][+-]?[0-9]+)? *(k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)? *$";
constexpr const char* kQuantityPattern = "^ *([0-9.]+([eE][+-]?[0-9]+)?|inf) *[A-Za-z/%-]+ *$";

/// Returns names as YAML reads them: true and false may be without quotes.
Json enum_of(const std::vector<std::string>& names) {
    Json values = Json::array();
    for (const std::string& name : names) {
        values.push_back(name);
        if (name == "true" || name == "false") {
            values.push_back(name == "true");
        }
    }
    return {{"enum", std::move(values)}};
}

Json one_of_these(Json alternatives) {
    return alternatives.size() == 1 ? alternatives.front()
                                    : Json{{"anyOf", std::move(alternatives)}};
}

Json text_schema(const Asked* asked, bool other_texts) {
    Json any = Json::array();
    const ValueKind kind = asked == nullptr ? ValueKind::other : asked->kind;
    if (asked != nullptr && !asked->choices.empty() && kind != ValueKind::flag) {
        any.push_back(enum_of(asked->choices));
    }
    switch (kind) {
        case ValueKind::choice:
            break;
        case ValueKind::flag:
            any.push_back({{"type", "boolean"}});
            break;
        case ValueKind::whole:
            any.push_back({{"type", "integer"}, {"minimum", asked->least}});
            if (asked->most != Asked::kOfMachine) {
                any.back()["maximum"] = asked->most;
            }
            any.push_back({{"type", "string"}, {"pattern", kCountPattern}});
            break;
        case ValueKind::count:
            any.push_back({{"type", "integer"}, {"minimum", 0}});
            any.push_back({{"type", "string"}, {"pattern", kCountPattern}});
            break;
        case ValueKind::number:
            any.push_back({{"type", "number"}, {"minimum", 0}});
            any.push_back({{"type", "string"}});
            break;
        case ValueKind::quantity:
            any.push_back({{"type", "string"}, {"pattern", kQuantityPattern}});
            break;
        case ValueKind::other:
            any.push_back({{"type", Json::array({"string", "number"})}});
            break;
    }
    if (other_texts && kind != ValueKind::other) {
        any.push_back({{"type", "string"}});
    }
    return one_of_these(std::move(any));
}

class SchemaWriter {
public:
    Json map_of(const std::string& path) const {
        Json properties = Json::object();
        Json required = Json::array();
        Json others = false;
        for (const std::string& name : keys_of(path)) {
            const std::string below = path.empty() ? name : fmt::format("{}.{}", path, name);
            if (name == "*") {
                continue;
            }
            properties[name] = key_schema(below);
            if (asked_.required.contains(below)) {
                required.push_back(name);
            }
        }
        Json map = {{"type", "object"}, {"properties", std::move(properties)}};
        map["additionalProperties"] = std::move(others);
        if (!required.empty()) {
            map["required"] = std::move(required);
        }
        return map;
    }

private:
    Json key_schema(const std::string& path) const {
        const KeySpec& key = *find_key(path);
        const auto asked = asked_.keys.find(path);
        const Asked* const known = asked == asked_.keys.end() ? nullptr : &asked->second;
        Json any = Json::array();
        if ((key.accepts & kText) != 0) {
            any.push_back(text_schema(known, asked_.texts.contains(path)));
        }
        const bool has_keys = !keys_of(path).empty();
        if ((key.accepts & kMap) != 0) {
            any.push_back(map_of(path));
        }
        if ((key.accepts & kList) != 0) {
            const bool of_names = known != nullptr && known->kind == ValueKind::choice &&
                                  !asked_.texts.contains(path);
            any.push_back(
                {{"type", "array"},
                 {"items", (key.accepts & kMap) == 0 && has_keys ? map_of(path)
                                                                 : text_schema(known, !of_names)}});
        }
        if ((key.accepts & kAuto) != 0) {
            any.push_back({{"const", "auto"}});
        }
        Json described = {{"description", fmt::format("{}. Default: {}. Example: {}", key.meaning,
                                                      key.fallback, key.form)}};
        described.update(one_of_these(std::move(any)));
        return described;
    }

    const AskedKeys asked_ = ask_probes();
};

}  // namespace

Json scenario_schema() {
    Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                   {"title", "A scenario of podsim"},
                   {"description",
                    "Written by `podsim help --schema`. In an editor: "
                    "# yaml-language-server: $schema=docs/scenario.schema.json"}};
    schema.update(SchemaWriter().map_of(""));
    return schema;
}

}  // namespace podsim::scenarios
