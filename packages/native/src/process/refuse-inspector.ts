/** Node has this without a type: it ends an inspector, loads nothing for that, and does nothing where there is none. */
type Inspected = typeof process & { _debugEnd?(): void };

/** Milliseconds after which an inspector that was asked for before this process could refuse has started. */
const LATEST_START_MS = 1_024;

/**
 * From now on this process has no inspector, whoever asks for one: SIGUSR1, which every program of the same user may send, or
 * `NODE_OPTIONS`. Over an inspector, any program of this host reads memory and runs code here. For a process that does nothing
 * else, to be called before anything else; `NODE_OPTIONS` loses those options for what this process starts. Idempotent.
 */
export function refuseInspector(env: Record<string, string | undefined> = process.env): void {
  const isFirst = !process.listeners("SIGUSR1").includes(ignore);
  if (isFirst) process.on("SIGUSR1", ignore); // in place of Node's own handler
  const inspected: Inspected = process;
  inspected._debugEnd?.();
  // A signal that came before that is answered by a thread of its own, in its own time.
  for (let ms = 1; isFirst && ms <= LATEST_START_MS; ms *= 2) setTimeout(() => inspected._debugEnd?.(), ms).unref();
  const { NODE_OPTIONS } = env;
  if (NODE_OPTIONS === undefined) return;
  const kept = withoutInspector(NODE_OPTIONS);
  if (kept === "") delete env.NODE_OPTIONS;
  else if (kept !== NODE_OPTIONS) env.NODE_OPTIONS = kept;
}

const ignore = () => {};

/** `NODE_OPTIONS` without those of the inspector; a value may follow an option as a word of its own. */
export function withoutInspector(options: string): string {
  if (!/inspect|debug.port/.test(options)) return options;
  const words = options.match(/(?:"(?:\\.|[^"\\])*"|[^\s"])+/g) ?? [];
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

/** Options of Node that start a program which refuses its inspector from before its first line on; none where Node is older. */
export const noInspectorOptions = (): readonly string[] =>
  process.allowedNodeEnvironmentFlags.has("--disable-sigusr1") ? ["--disable-sigusr1"] : [];
