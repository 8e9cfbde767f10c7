/** `_debugEnd` has no type in Node: it stops the inspector, if any, without loading `node:inspector`. */
type Inspected = typeof process & { _debugEnd?(): void };

/** Milliseconds within which an inspector starts that was requested before this process could prevent it. */
const LATEST_START_MS = 1_024;

/**
 * Prevents this process from opening an inspector, by SIGUSR1, which every program of the same user may send, or by
 * `NODE_OPTIONS`. Through an inspector, any program of this host could read memory and run code here. For a process that does
 * nothing else; call it first. Those options are also removed from `NODE_OPTIONS` in `env`, for child processes. Idempotent.
 */
export function refuseInspector(env: Record<string, string | undefined> = process.env): void {
  const isFirst = !process.listeners("SIGUSR1").includes(ignore);
  if (isFirst) process.on("SIGUSR1", ignore); // replaces Node's own handler
  const inspected: Inspected = process;
  inspected._debugEnd?.();
  // An earlier signal is handled by another thread, some time later.
  for (let ms = 1; isFirst && ms <= LATEST_START_MS; ms *= 2) setTimeout(() => inspected._debugEnd?.(), ms).unref();
  const { NODE_OPTIONS } = env;
  if (NODE_OPTIONS === undefined) return;
  const kept = withoutInspector(NODE_OPTIONS);
  if (kept === "") delete env.NODE_OPTIONS;
  else if (kept !== NODE_OPTIONS) env.NODE_OPTIONS = kept;
}

const ignore = () => {};

/** `NODE_OPTIONS` without inspector options; the value of an option may be the next word. */
export function withoutInspector(options: string): string {
  if (!/inspect|debug.port/.test(options)) return options;
  const words = options.match(/(?:"(?:\\.|[^"\\])*"?|[^\s"])+/g) ?? [];
  const kept: string[] = [];
  let takesValue = false;
  for (const word of words) {
    const name = word.replaceAll(/["\\]/g, "").replaceAll("_", "-");
    const isValue = takesValue && !name.startsWith("-");
    takesValue = /^--(inspect|debug-port)/.test(name) && !name.includes("=");
    if (!isValue && !/^--(inspect|debug-port)/.test(name)) kept.push(word);
  }
  return kept.join(" ");
}

/** Options of Node to start a program without an inspector; empty where Node is too old to have such an option. */
export const noInspectorOptions = (): readonly string[] =>
  process.allowedNodeEnvironmentFlags.has("--disable-sigusr1") ? ["--disable-sigusr1"] : [];
