/**
 * The members that are not undefined, for objects in which a member may be missing but not undefined:
 *
 *     { id, ...defined({ cwd, env }) } // with `cwd` only if there is one
 */
export function defined<Members extends object>(
  members: Members,
): { [Name in keyof Members]?: Exclude<Members[Name], undefined> } {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) kept[name] = value;
  return kept as { [Name in keyof Members]?: Exclude<Members[Name], undefined> };
}
