export async function runPage() {}
