export async function programPage() {}
