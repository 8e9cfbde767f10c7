/** Runtimes that claim to be Node, and differ in descriptors, terminals and signals. */
const OTHERS = { bun: "Bun", deno: "Deno" } as const;

/** Why programs cannot be run on this JavaScript runtime, as a sentence; undefined if they can. */
export function findRuntimeProblem(
  versions: Readonly<Record<string, string | undefined>> = process.versions,
): string | undefined {
  const needed = "Node 20.19 or newer is needed, as descriptors, terminals and signals differ";
  for (const [key, name] of Object.entries(OTHERS)) {
    if (versions[key] !== undefined) return `${name} ${versions[key]} cannot run programs: ${needed}`;
  }
  return versions.node === undefined ? `this runtime cannot run programs: ${needed}` : undefined;
}
