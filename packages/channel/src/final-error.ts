/** The error, or the cause of it, that says by `isFinal: true` that another attempt to connect is of no use; undefined if none does. */
export function findFinal(error: unknown): Error | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    if ("isFinal" in each && each.isFinal === true) return each;
  }
  return undefined;
}
