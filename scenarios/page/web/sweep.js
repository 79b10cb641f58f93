export async function sweepPage() {}
