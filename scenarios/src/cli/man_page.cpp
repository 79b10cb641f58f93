#include "scenarios/src/cli/man_page.h"

#include <fmt/format.h>

#include "scenarios/src/cli/exit_status.h"
#include "scenarios/src/cli/help_text.h"
#include "scenarios/src/cli/look.h"
#include "scenarios/src/scenario/schema.h"

namespace podsim::scenarios {
namespace {

/// Returns text that roff prints unchanged: without escapes or control lines; ASCII stays ASCII.
std::string roff(std::string_view text) {
    std::string escaped;
    bool begins_line = true;
    for (const char c : text) {
        if (begins_line && (c == '.' || c == '\'')) {
            escaped += "\\&";
        }
        switch (c) {
            case '\\':
                escaped += "\\e";
                break;
            case '-':
                escaped += "\\-";
                break;
            case '\'':
                escaped += "\\(aq";
                break;
            case '`':
                escaped += "\\(ga";
                break;
            case '^':
                escaped += "\\(ha";
                break;
            case '~':
                escaped += "\\(ti";
                break;
            default:
                escaped += c;
        }
        begins_line = c == '\n';
    }
    return escaped;
}

/// Returns an argument of a macro, quoted.
std::string macro_argument(std::string_view text) {
    std::string escaped;
    for (const char c : roff(text)) {
        escaped += c == '"' ? std::string("\\(dq") : std::string(1, c);
    }
    return '"' + escaped + '"';
}

std::string bold(std::string_view text) {
    return "\\fB" + roff(text) + "\\fR";
}

std::string italic(std::string_view text) {
    return "\\fI" + roff(text) + "\\fR";
}

/// Returns lines that roff does not fill.
std::string as_it_is(std::string_view text) {
    return ".nf\n" + roff(text) + "\n.fi\n";
}

/// Returns a paragraph with a tag.
std::string tagged(const std::string& tag, std::string_view text) {
    return ".TP\n" + tag + '\n' + roff(text) + '\n';
}

std::string text_of(std::string_view text) {
    std::string all;
    for (const Paragraph& paragraph : paragraphs_of(text)) {
        all += paragraph.after_blank || all.empty() ? ".PP\n" : ".br\n";
        all += paragraph.is_table ? as_it_is(paragraph.text) : roff(paragraph.text) + '\n';
    }
    return all;
}

std::string example_of(std::string_view example) {
    return ".PP\nExample:\n.PP\n.RS 4\n" + as_it_is(example) + ".RE\n";
}

std::string synopsis_of(const Usage& usage) {
    std::string all;
    for (const std::string& line : usage.synopses()) {
        all += ".HP 8\n" + bold("podsim");
        for (const std::string& part : synopsis_parts(line)) {
            std::string whole;
            for (const char c : roff(part)) {
                whole += c == ' ' ? std::string("\\ ") : std::string(1, c);
            }
            all += ' ' + whole;
        }
        all += '\n';
    }
    return all;
}

std::string tag_of(const DescribedOption& option) {
    std::string tag = option.letter == 0 ? "" : bold(fmt::format("-{}", option.letter)) + ", ";
    tag += bold("--" + option.name);
    switch (option.takes) {
        case Takes::nothing:
            break;
        case Takes::file:
            tag += ' ' + italic("PATH");
            break;
        case Takes::settings:
            tag += ' ' + italic("key=value");
            break;
        case Takes::text:
        case Takes::parts:
            tag += ' ' + italic("VALUE");
            break;
    }
    return option.fallback.empty() ? tag : tag + roff(fmt::format(" (={})", option.fallback));
}

std::string section_of(const DescribedCommand& command) {
    const Usage& usage = command.usage;
    std::string text =
        fmt::format(".SS {}\n", macro_argument(fmt::format("podsim {}", command.name)));
    text += synopsis_of(usage) + text_of(usage.summary());
    for (const DescribedOption& option : usage.described()) {
        text += tagged(tag_of(option), option.meaning);
    }
    return text + text_of(usage.notes()) + example_of(usage.example());
}

std::string keys_section() {
    std::string text =
        ".SH KEYS OF SCENARIOS\nA scenario is a YAML file with these keys; dots stand between "
        "keys, an asterisk for any name.\n";
    for (const KeySpec& key : schema()) {
        std::string about(key.meaning);
        about += fmt::format("{}as in {}", about.empty() ? "" : "; ", key.form);
        if (!key.fallback.empty()) {
            about += fmt::format("; default: {}", key.fallback);
        }
        text += tagged(bold(key.path), about);
    }
    return text;
}

}  // namespace

std::string man_page(const Manual& manual) {
    std::string text = fmt::format(".TH PODSIM 1 \"\" {} \"User Commands\"\n",
                                   macro_argument(fmt::format("podsim {}", manual.version)));
    text += ".nh\n.ad l\n";  // text to be copied stays whole
    text += ".SH NAME\npodsim \\- simulate sharded training and inference steps on TPU pods\n";
    text += ".SH SYNOPSIS\n" + bold("podsim") + ' ' + italic("COMMAND") + " [" +
            italic("ARGUMENTS") + "]\n";
    text += ".SH DESCRIPTION\n" + text_of(manual.summary) + example_of(manual.example);
    text += ".SH COMMANDS\n";
    for (const DescribedCommand& command : manual.commands) {
        text += tagged(bold(command.name), command.summary);
    }
    text += ".SH OPTIONS\n";
    for (const GeneralOption& option : manual.options) {
        text += tagged(
            bold(fmt::format("-{}", option.letter)) + ", " + bold(fmt::format("--{}", option.name)),
            option.meaning);
    }
    text += ".SH OPTIONS OF COMMANDS\n";
    for (const DescribedCommand& command : manual.commands) {
        text += section_of(command);
    }
    text += keys_section() + ".SH EXIT STATUS\n";
    for (const ExitStatus& each : kExitStatuses) {
        text += tagged(bold(std::to_string(each.status)), each.meaning);
    }
    text += ".SH ENVIRONMENT\n";
    for (const EnvironmentVariable& each : kVariables) {
        text += tagged(bold(each.name), each.meaning);
    }
    return text;
}

}  // namespace podsim::scenarios
