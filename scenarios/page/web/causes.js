// The terms of a gap by cause: parts of one thing are one cause.

/// `exposed AllGather over tensor (tensor)` is of the purpose in brackets.
export function causesOf(gap) {
  const sums = new Map();
  for (const [name, s] of gap) {
    const purpose = /^(?:exposed|idle links: exposed) .*\(([^)]+)\)$/.exec(name)?.[1];
    const cause = purpose ? `exposed ${purpose} communication` : name;
    sums.set(cause, (sums.get(cause) ?? 0) + s);
  }
  return [...sums].sort((a, b) => b[1] - a[1]);
}
