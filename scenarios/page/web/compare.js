export async function comparePage() {}
