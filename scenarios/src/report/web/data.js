// The keys of podsim's JSON, in one place.

const entries = (object) => Object.entries(object ?? {});

/// Returns the fields of `podsim run`'s JSON that the page of a step reads.
export function stepOf(json) {
    const breakdown = json.breakdown_s;
    return {
        chip: json.chip,
        chips: json.chips,
        slice: json.slice,
        model: json.model,
        mesh: entries(json.mesh)
            .map(([name, factors]) => `${name} ${factors}`)
            .join(', '),
        parameters: json.parameters,
        tokens: json.batch_tokens,
        sequence: json.sequence,
        step: json.step_time_s,
        compute: json.compute_s,
        exposed: json.exposed_communication_s,
        mfu: json.mfu,
        hfu: json.hfu,
        tokensPerSecond: json.tokens_per_s,
        bound: json.bound,
        lower: json.analytic.roofline_lower_s,
        book: json.analytic.book_s,
        serial: json.analytic.roofline_serial_s,
        gap: entries(json.gap_s),
        path: entries(json.critical_path_s),
        passes: entries(breakdown.compute),
        waits: entries(breakdown.exposed_communication),
        memory: memoryOf(json.memory),
        links: linksOf(json.links),
        training: json.training_run,
        inference: json.inference,
        warnings: json.warnings ?? [],
        advice: json.advice ?? [],
        adviceToFit: json.advice_to_fit ?? [],
        diagnosis: json.diagnosis ?? [],
        faster: json.ten_percent_faster ?? [],
        twice: json.twice_as_fast ?? [],
        band: json.error_band?.fraction,
        likePublished: json.error_band?.like_published,
        profile: json.profile,
        profileVersion: json.profile_version,
        expectations: expectationsOf(json.expectations),
        whatIf: entries(json.what_if_s),
    };
}

function memoryOf(memory) {
    return {
        peak: memory.peak_bytes,
        capacity: memory.capacity_bytes,
        fits: memory.fits,
        tight: memory.tight,
        at: memory.peak_at_s,
        atPeak: entries(memory.at_peak_bytes),
        remedies: memory.remedies ?? [],
        leastPeak: memory.least_peak_bytes,
    };
}

export function linksOf(links) {
    return entries(links).map(([name, use]) => ({
        name,
        busy: use.busy_fraction,
        bytes: use.bytes,
        busiest: use.busiest_busy_fraction,
        by: entries(use.busy_fraction_by),
    }));
}

export function expectationsOf(expectations) {
    return (expectations ?? []).map((row) => ({
        quantity: row.quantity,
        value: row.simulated ?? row.analytic,
        analytic: row.analytic !== null && row.analytic !== undefined,
        reference: row.reference,
        error: row.error,
        within: row.within,
        holds: row.holds,
        differs: row.differs,
        source: row.source,
    }));
}

export function collectiveOf(json) {
    return {
        chip: json.chip,
        slice: json.slice,
        chips: json.chips,
        operation: json.op,
        axes: json.axes,
        members: json.members,
        bytes: json.bytes,
        simulated: json.simulated_s,
        analytic: json.analytic_s,
        book: json.book_s,
        bound: json.physical_bound_s,
        overBound: json.bound_over_simulated,
        algorithmRate: json.algorithm_bandwidth_bytes_per_s,
        busRate: json.bus_bandwidth_bytes_per_s,
        algorithm: json.algorithm,
        shares: json.time_fractions,
        regime: json.regime,
        gap: entries(json.gap_s),
        links: linksOf(json.links),
        limiting: json.limiting ?? [],
        dtype: json.dtype,
        latency: json.latency,
    };
}

export function programOf(json) {
    return {
        time: json.step_time_s,
        lower: json.analytic?.roofline_lower_s,
        serial: json.analytic?.roofline_serial_s,
        bound: json.bound,
        chip: json.chip,
        slice: json.slice,
        chips: json.chips,
        stages: json.stages ?? [],
        warnings: json.warnings ?? [],
        gap: entries(json.gap_s),
        links: linksOf(json.links),
        expectations: expectationsOf(json.expectations),
    };
}
