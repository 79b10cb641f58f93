#include "scenarios/src/serve/serving_text.h"

#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <vector>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/table.h"

namespace podsim::scenarios {
namespace {

std::string plural(std::int64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Returns four significant digits; whole numbers from 1000 to a million are written out.
std::string number(double value) {
    return value >= 999.95 && value < 999999.5 ? fmt::format("{:.0f}", value)
                                               : fmt::format("{:.4g}", value);
}

std::string arrivals_text(const ServingRun& run) {
    const LoadSpec& load = run.spec.load;
    const std::string count = plural(std::ssize(run.result.requests), "request");
    switch (load.arrivals) {
        case ArrivalKind::poisson:
            return fmt::format("{}, Poisson at {:.6g} a second, seed {}", count, load.rate,
                               load.seed);
        case ArrivalKind::concurrency:
            return fmt::format("{} of {}, seed {}", count, plural(load.concurrency, "client"),
                               load.seed);
        case ArrivalKind::trace:
            break;
    }
    return count + " as a trace says";
}

std::string batching_text(const ServingSpec& spec) {
    const BatchingSpec& batching = spec.batching;
    std::string text =
        fmt::format("{}, {}", to_string(batching.kind), plural(batching.slots, "slot"));
    if (batching.kind == BatchingKind::chunked) {
        text += fmt::format(", {} tokens a step, {}", batching.budget,
                            batching.mixed ? "decodes and prompts mixed" : "prompts apart");
    }
    if (batching.interleave > 0) {
        text += fmt::format(", {} between prefills", plural(batching.interleave, "decode step"));
    }
    if (batching.padding != Padding::none) {
        text += batching.padding == Padding::slots ? ", decodes padded to the slots"
                                                   : ", decodes padded to powers of two";
    }
    if (spec.speculation.tokens > 0) {
        text += fmt::format(", {} drafted, {} accepted", plural(spec.speculation.tokens, "token"),
                            format_percent(spec.speculation.acceptance));
    }
    return text;
}

std::string cache_text(const CacheSpec& cache) {
    if (!cache.pages.has_value()) {
        return fmt::format("pages of {}, as many as are needed", plural(cache.page, "token"));
    }
    return fmt::format("{} of {}, {}", plural(*cache.pages, "page"), plural(cache.page, "token"),
                       cache.reserve ? "reserved for the whole answer" : "taken as they fill");
}

std::string head(const ServingRun& run) {
    const ServingSpec& spec = run.spec;
    Table table({1});
    table.row({"load", arrivals_text(run)});
    if (spec.load.trace.empty()) {
        table.row({"prompts", length_text(spec.load.prompt)});
        table.row({"outputs", length_text(spec.load.output)});
    } else {
        table.row(
            {"lengths", fmt::format("of a trace, {}", plural(std::ssize(spec.load.trace), "row"))});
    }
    if (spec.load.common_prefix > 0) {
        table.row({"prefix", fmt::format("{} tokens of all, held once", spec.load.common_prefix)});
    } else if (spec.load.prefix_share > 0) {
        table.row({"prefix", format_percent(spec.load.prefix_share) + " of each prompt cached"});
    }
    table.row({"batching", batching_text(spec)});
    table.row({"cache", cache_text(spec.cache)});
    if (spec.disaggregation.has_value()) {
        table.row(
            {"servers", fmt::format("{} prefill, {} generate", spec.disaggregation->prefill_servers,
                                    spec.disaggregation->generate_servers)});
    }
    if (spec.host.ps > 0) {
        table.row({"host", format_time(spec.host.seconds()) +
                               (spec.host_beside ? " beside every step" : " before every step")});
    }
    return run.name + '\n' + table.text(2);
}

void spread_row(Table& table, std::string name, const Spread& spread) {
    table.row({std::move(name), format_time(spread.mean), format_time(spread.median),
               format_time(spread.p90), format_time(spread.p99), format_time(spread.largest)});
}

std::string latencies(const ServingSummary& summary) {
    Table table;
    table.row({"Latency", "mean", "median", "p90", "p99", "largest"});
    spread_row(table, "  time to first token", summary.first_token);
    if (summary.a_token.count > 0) {
        spread_row(table, "  time per output token", summary.a_token);
        spread_row(table, "  between tokens", summary.gap);
    }
    spread_row(table, "  end to end", summary.whole);
    spread_row(table, "  in line", summary.wait);
    return table.text(0);
}

std::string rates(const ServingRun& run) {
    const ServingSummary& summary = run.summary;
    const auto chips = static_cast<double>(run.chips);
    Table table;
    table.row({"Rate", "a second", "a chip"});
    const auto row = [&](const char* name, double rate) {
        table.row({name, number(rate), number(rate / chips)});
    };
    row("  requests", summary.requests_per_s);
    row("  output tokens", summary.output_per_s);
    row("  prompt tokens", summary.prompt_per_s);
    if (run.spec.objective.first_token.has_value() || run.spec.objective.a_token.has_value()) {
        row("  goodput, requests", summary.goodput_per_s);
        return table.text(0) + fmt::format("  {} of the requests meet the objective\n",
                                           format_percent(summary.good_share));
    }
    return table.text(0);
}

std::string cost(const ServingRun& run) {
    const std::optional<double> usd = usd_per_million_output_tokens(run);
    return usd ? fmt::format("  a million output tokens cost {:.3g} USD at {:.2f} USD/chip-hour\n",
                             *usd, *run.usd_per_chip_hour)
               : "";
}

/// Returns a verdict on the load of an open run, if its arrivals allow one.
std::string load_text(const ServingRun& run) {
    const auto requests = std::ssize(run.result.requests);
    if (!run.summary.offered_per_s.has_value()) {
        return fmt::format("  {}: there is no rate of arrivals to keep up with\n",
                           requests == 1 ? "a single request"
                                         : fmt::format("all {} requests come at once", requests));
    }
    const std::string offered = number(*run.summary.offered_per_s);
    const LoadVerdict& load = run.summary.load;
    const bool none_served = *run.summary.served_per_s == 0;
    if (load.overloaded) {
        return fmt::format(
            "  overloaded: {} requests a second come, {} are served, those in the system grow by "
            "{} "
            "a second;\n"
            "  {} are there at the last arrival, {} in line: {:.0f} more than at the middle "
            "one, where chance would leave {:.0f} of {} (3 sqrt(1.2 n))\n",
            offered, number(*run.summary.served_per_s), number(load.growth_per_s), load.in_system,
            load.in_line, load.growth, std::floor(load.limit), requests);
    }
    const std::string there = fmt::format("  {} {} in the system at the last arrival, {} in line",
                                          plural(load.in_system, "request"),
                                          load.in_system == 1 ? "is" : "are", load.in_line);
    if (!load.too_short) {
        return fmt::format("{}: the load of {} requests a second is served\n", there, offered);
    }
    const std::string fills =
        none_served ? ", none has been served by then"
        : load.growth > load.limit
            ? fmt::format(", {:.0f} more than at the middle one, but the first took up to {}",
                          load.growth, format_time(load.first_took_s))
            : "";
    return fmt::format(
        "{}{}: the run is too short to tell whether the load of {} requests a second is served\n",
        there, fills, offered);
}

std::string queue_text(const ServingRun& run) {
    const QueueUse& queue = run.result.queue;
    std::string text =
        fmt::format("Queue: {} wait on average, {} at most\n", number(queue.mean), queue.most);
    if (run.spec.load.arrivals == ArrivalKind::concurrency) {
        return text;
    }
    return text + load_text(run);
}

std::string cache_use(const ServingRun& run) {
    const ServingSummary& summary = run.summary;
    std::string text;
    if (run.spec.cache.pages.has_value()) {
        const auto pages = static_cast<double>(*run.spec.cache.pages);
        text += fmt::format("  cache {} full on average, {} at most\n",
                            format_percent(summary.mean_pages / pages),
                            format_percent(static_cast<double>(summary.most_pages) / pages));
    }
    if (summary.preemptions > 0) {
        text += fmt::format(
            "  {} of {}, {} computed again\n", plural(summary.preemptions, "preemption"),
            plural(summary.preempted_requests, "request"), plural(summary.recomputed, "token"));
    }
    if (run.result.drafted > 0) {
        text += fmt::format(
            "  {:.4g} tokens of a sequence in a decode step, {} of the drafted "
            "accepted\n",
            summary.tokens_a_decode, format_percent(summary.accepted_share));
    }
    return text;
}

std::string servers_text(const ServingRun& run) {
    const ServingSummary& summary = run.summary;
    std::string text =
        fmt::format("Servers: busy {} of the time, {} of the slots used\n",
                    format_percent(summary.generate_busy), format_percent(summary.slots_used));
    if (run.spec.disaggregation.has_value()) {
        const DisaggregationSpec& apart = *run.spec.disaggregation;
        const double rate = summary.requests_per_s;
        const std::int64_t slots = run.spec.batching.slots;
        const bool is_short = run.balance.sequences > 0 && run.balance.sequences < slots;
        const double of_slots =
            is_short ? static_cast<double>(run.balance.sequences) / static_cast<double>(slots) : 1;
        text = fmt::format(
            "Servers\n  prefill busy {} (closed form {}), generate busy {}, {} of the slots used "
            "(closed form {})\n",
            format_percent(summary.prefill_busy),
            format_percent(rate * run.balance.prefill_s /
                           static_cast<double>(apart.prefill_servers)),
            format_percent(summary.generate_busy), format_percent(summary.slots_used),
            format_percent(rate * run.balance.generate_s * of_slots /
                           static_cast<double>(apart.generate_servers)));
        text += fmt::format(
            "  a request takes {} of a prefill server and {} of a full generate server{}: {:.4g} "
            "prefill servers a generate server balance\n",
            format_time(run.balance.prefill_s), format_time(run.balance.generate_s),
            is_short ? fmt::format(", whose cache has room for {}",
                                   plural(run.balance.sequences, "sequence"))
                     : "",
            run.balance.ratio);
        text += fmt::format(
            "  a cache is {} on its way, after the first token: those of a prefill server {} of "
            "the time{}\n",
            format_time(summary.a_transfer), format_percent(summary.sending),
            summary.transfers_limit ? "; the transfer of caches limits the servers" : "");
    }
    return text + cache_use(run);
}

std::string grid_text(const ServingRun& run) {
    if (!run.step_grid.has_value()) {
        return fmt::format("Step times: exact, {} simulated\n",
                           plural(static_cast<std::int64_t>(run.buckets), "shape"));
    }
    std::string text = fmt::format("Step times: {} in a factor of two, {} simulated",
                                   plural(run.spec.per_octave, "point"),
                                   plural(static_cast<std::int64_t>(run.buckets), "bucket"));
    const auto error = [&](const GridError& grid, std::string_view of) {
        text += fmt::format("; {}off by {} on average, {} at most in {} sampled", of,
                            format_percent(grid.mean), format_percent(grid.largest),
                            plural(static_cast<std::int64_t>(grid.samples), "step"));
    };
    error(*run.step_grid, run.prefill_grid.has_value() ? "decode " : "");
    if (run.prefill_grid.has_value()) {
        error(*run.prefill_grid, "prefill ");
    }
    return text + '\n';
}

}  // namespace

std::string_view to_string(BatchingKind kind) {
    switch (kind) {
        case BatchingKind::fixed:
            return "static";
        case BatchingKind::continuous:
            return "continuous";
        case BatchingKind::chunked:
            break;
    }
    return "chunked";
}

std::string length_text(const LengthSpec& length) {
    switch (length.kind) {
        case LengthKind::fixed:
            return plural(length.least, "token");
        case LengthKind::uniform:
            return fmt::format("{} to {} tokens", length.least, length.most);
        case LengthKind::lognormal:
            break;
    }
    return fmt::format("lognormal, mean {:.6g}, sigma {:.6g}, {} to {} tokens", length.mean,
                       length.sigma, length.least, length.most);
}

std::string serving_text(const ServingRun& run, std::span<const Verdict> verdicts) {
    return head(run) +
           fmt::format("\nServed in {}, {} in the system on average, {} at most\n\n",
                       format_time(run.summary.seconds),
                       fmt::format("{:.4g}", run.result.mean_in_system),
                       run.result.most_in_system) +
           latencies(run.summary) + '\n' + rates(run) + cost(run) + '\n' + queue_text(run) + '\n' +
           servers_text(run) + '\n' + grid_text(run) + (verdicts.empty() ? "" : "\n") +
           verdicts_report(verdicts);
}

}  // namespace podsim::scenarios
