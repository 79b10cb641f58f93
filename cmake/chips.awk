# Compiles topology/chips/data/*.yaml into the C++ tables that topology/chips/chip_table.h declares.
# Each field of a chip is a line `key: [value, "source"]`. The indented lines below `measured:`, `inference:` and
# `jax_order:` are rows of the same form.

function fail(why) {
    print FILENAME ":" FNR ": " why > "/dev/stderr"
    failed = 1
    exit 1
}

# Sets `value` and `source` of `[value, "source"]`.
function take(text,    at) {
    if (text !~ /^\[.*, ".*"\]$/) fail("no [value, \"source\"]")
    at = match(text, /, "/)
    value = substr(text, 2, at - 2)
    source = substr(text, at + 3, length(text) - at - 4)
    gsub(/\[/, "{", value)
    gsub(/\]/, "}", value)
}

function factors(name, rows) {
    print "const std::vector<MeasuredFactor>& " name "() {\n    static const std::vector<MeasuredFactor> table{\n" rows "    };\n    return table;\n}\n"
}

function quoted_list(text) {
    sub(/^\[/, "", text)
    sub(/\]$/, "", text)
    gsub(/, /, "\", \"", text)
    return "{\"" text "\"}"
}

BEGIN {
    split("bf16_flops int8_ops fp8_flops vpu_flops", names, " ")
    for (i in names) type[names[i]] = "sim::FlopsPerSecond"
    split("vmem hbm_capacity hbm_reserved", names, " ")
    for (i in names) type[names[i]] = "sim::Bytes"
    split("hbm_bandwidth ici_one_way_book ici_both_ways_book ici_one_way_vendor pcie_one_way dcn_per_host", names, " ")
    for (i in names) type[names[i]] = "sim::BytesPerSecond"
    split("ici_latency pcie_latency dcn_latency collective_launch", names, " ")
    for (i in names) type[names[i]] = "sim::Seconds"
}

/^#/ || /^$/ { next }

/^  / {
    key = substr($1, 1, length($1) - 1)
    take(substr($0, index($0, ": ") + 2))
    if (section == "measured") {
        row = "        {\"" key "\", " value ", \"" source "\"},\n"
        if (name == "") pooled = pooled row
        else measured[name] = measured[name] row
    } else if (section == "inference") {
        inference = inference "        {\"" key "\", " value ", \"" source "\"},\n"
    } else if (section == "jax_order") {
        gsub(/x/, ", ", key)
        orders[name] = orders[name] "        {{" key "}, " value ", \"" source "\"},\n"
    } else {
        fail("a row of no section")
    }
    next
}

{
    key = substr($1, 1, length($1) - 1)
    rest = substr($0, index($0, ":") + 2)
    section = ""
    if (key == "name") {
        name = rest
        fields[name] = "    .name = \"" name "\",\n"
    } else if (key == "order") {
        chip[rest + 0] = name
        chips = rest > chips ? rest + 0 : chips
    } else if (key == "measured" || key == "jax_order" || key == "inference") {
        section = key
        if (FILENAME ~ /all-measured/) name = ""
    } else if (key == "aliases" || key == "published") {
        lists[name] = lists[name] "    ." key " = " quoted_list(rest) ",\n"
    } else {
        take(rest)
        if (key == "wraparound") value = "Wraparound::" value
        else if (type[key] != "") value = type[key] "(" value ")"
        plain[name] = plain[name] "    ." key " = {" value ", \"" source "\"},\n"
    }
}

END {
    if (failed) exit 1
    print "// Made by cmake/chips.awk from topology/chips/data."
    print "#include \"topology/chips/chip_table.h\"\n\nnamespace podsim::topology {\n"
    print "const std::vector<ChipSpec>& chip_table() {\n    static const std::vector<ChipSpec> table{"
    for (i = 1; i <= chips; ++i) {
        n = chip[i]
        print "    ChipSpec{\n" fields[n] lists[n] plain[n] "    .jax_order = {\n" orders[n] "    },\n    .measured = {\n" measured[n] "    }},"
    }
    print "    };\n    return table;\n}\n"
    factors("pooled_factors", pooled)
    factors("inference_factors", inference)
    print "}  // namespace podsim::topology"
}
