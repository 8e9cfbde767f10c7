/** A copy of JSON data whose objects inherit nothing: a member such as `constructor` is there only if it was sent. */
export function withoutPrototypes(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  const bare = Object.create(null);
  for (const [key, member] of Object.entries(value)) bare[key] = withoutPrototypes(member);
  return bare;
}

/** Makes the bare objects in a value ordinary ones again, in place. */
export function restorePrototypes<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null) Object.setPrototypeOf(value, Object.prototype);
  // Instances of other classes were created by the schema, and are left alone.
  if (prototype === null || prototype === Object.prototype || Array.isArray(value)) {
    for (const member of Object.values(value)) restorePrototypes(member);
  }
  return value;
}
