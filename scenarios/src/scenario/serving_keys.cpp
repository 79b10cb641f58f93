#include "scenarios/src/scenario/schema_keys.h"

namespace podsim::scenarios {
namespace {

constexpr std::string_view kMustStand = "required";

// clang-format off
constexpr KeySpec kServingKeys[] = {
    {"serving", kMap, "{rate: 4 requests/s, requests: 1000, prompt: 1024, output: 256, slots: 64}", "none",
     "requests served by simulated steps (`podsim serve`)"},
    {"serving.rate", kText, "4 requests/s", "none", "Poisson arrivals; one of rate, concurrency, trace"},
    {"serving.concurrency", kText, "64", "none", "clients that each ask again when they are answered"},
    {"serving.trace", kText, "requests.csv", "none", "arrivals and lengths of a file: arrival_s,prompt,output[,prefix][,class]"},
    {"serving.lengths", kText, "requests.csv", "none", "with rate or concurrency: rows of such a file, drawn, in place of prompt and output"},
    {"serving.requests", kText, "1000", "all of a trace", "how many in all"},
    {"serving.seed", kText, "1", "1", "of arrivals, lengths and accepted tokens"},
    {"serving.prompt", kText | kMap, "1024", kMustStand,
     "tokens: a number, {least, most} (uniform) or {mean, sigma, least, most} (lognormal)"},
    {"serving.prompt.least", kText, "64", "1", "shortest"},
    {"serving.prompt.most", kText, "4096", kMustStand, "longest"},
    {"serving.prompt.mean", kText, "1024", "none", "of the lognormal distribution"},
    {"serving.prompt.sigma", kText, "0.8", kMustStand, "of the lognormal distribution: standard deviation of the logarithm"},
    {"serving.output", kText | kMap, "256", kMustStand, "tokens of the answer, written like prompt"},
    {"serving.output.least", kText, "16", "1", "shortest"},
    {"serving.output.most", kText, "1024", kMustStand, "longest"},
    {"serving.output.mean", kText, "256", "none", "of the lognormal distribution"},
    {"serving.output.sigma", kText, "0.8", kMustStand, "of the lognormal distribution: standard deviation of the logarithm"},
    {"serving.prefix", kMap, "{tokens: 512}", "none", "what of the prompts a prefix cache holds"},
    {"serving.prefix.share", kText, "50 %", "none", "of each prompt, on pages of its own"},
    {"serving.prefix.tokens", kText, "512", "none", "with which all longer prompts begin, held once"},
    {"serving.batching", kText, "chunked", "continuous",
     "static (to the end of the longest), continuous (a prompt alone, then decodes), chunked (a budget of tokens a step)"},
    {"serving.slots", kText, "64", kMustStand, "sequences at once on a server, at most"},
    {"serving.budget", kText, "2048", "2048", "of chunked: new tokens of a step"},
    {"serving.mixed", kText, "false", "true", "of chunked: decodes and a chunk in one step (vLLM), or chunks apart and first (sglang)"},
    {"serving.interleave", kText, "1", "0", "decode steps at least between two prefill steps, where they are apart"},
    {"serving.padding", kText, "slots", "none", "of how many sequences a decode step is compiled: none (as many as decode), power_of_two, slots"},
    {"serving.host", kText, "2 ms", "hardware.profile.host_s", "time of the host before every step; beside it with inference.scheduling: async"},
    {"serving.cache", kMap, "{pages: 4096, page: 16}", "none", "paged cache of a server"},
    {"serving.cache.pages", kText, "4096", "what memory holds", "pages of a server"},
    {"serving.cache.page", kText, "16", "16", "tokens of a page"},
    {"serving.cache.memory", kText, "90 %", "100 %", "share of the memory for programs that weights, steps and cache may take"},
    {"serving.cache.length", kText, "2048", "what is held", "tokens of a slot's buffer that every decode step reads whole"},
    {"serving.cache.reserve", kText, "true", "false", "pages of the whole answer at admission, or one when it is needed (a full cache then preempts)"},
    {"serving.speculation", kMap, "{tokens: 4, acceptance: 80 %}", "none", "speculative decoding"},
    {"serving.speculation.tokens", kText, "4", kMustStand, "drafted a step"},
    {"serving.speculation.acceptance", kText, "80 %", kMustStand, "of a drafted token, when those before it were accepted"},
    {"serving.disaggregated", kMap, "{prefill: 2, generate: 1, rate: 25 GB/s}", "none", "prefill on servers of its own"},
    {"serving.disaggregated.prefill", kText, "2", "1", "prefill servers"},
    {"serving.disaggregated.generate", kText, "1", "1", "generate servers"},
    {"serving.disaggregated.backlog", kText, "4", "4", "caches that wait for their way at a prefill server before it stops"},
    {"serving.disaggregated.rate", kText, "25 GB/s", kMustStand, "at which a prefill server sends caches"},
    {"serving.disaggregated.latency", kText, "10 us", "0 s", "of that way"},
    {"serving.disaggregated.bytes", kText, "160 KiB", "of the model's cache", "sent for each token"},
    {"serving.objective", kMap, "{first_token: 1 s, token: 50 ms}", "none", "what a request must meet to count as goodput"},
    {"serving.objective.first_token", kText, "1 s", "none", "time to first token, at most"},
    {"serving.objective.token", kText, "50 ms", "none", "time per output token, at most"},
    {"serving.grid", kText, "exact", "4", "points of step times in a factor of two, linear between; exact: every step simulated"},
};
// clang-format on

}  // namespace

std::span<const KeySpec> serving_keys() {
    return kServingKeys;
}

}  // namespace podsim::scenarios
