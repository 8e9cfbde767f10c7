import { readFileSync } from "node:fs";

/**
 * How another process of this host is confined where this one is not, such as by a sandbox: undefined if it is not, or if the system does not
 * tell. A process cannot leave either confinement. Linux only.
 */
export function findConfinement(pid: number, directory = "/proc"): string | undefined {
  const own = readConfinement(`${directory}/self/status`);
  if (own === undefined) return undefined;
  const other = readConfinement(`${directory}/${pid}/status`);
  if (other === undefined) return "it has ended, or is in another process namespace";
  if (other.namespaces > own.namespaces) return "it is in a process namespace of its own";
  return other.filters > own.filters ? "system calls of it are filtered" : undefined;
}

/** Undefined for a missing process, and on systems without such a file. */
function readConfinement(file: string): { namespaces: number; filters: number } | undefined {
  try {
    const status = readFileSync(file, "latin1");
    const read = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, "m").exec(status)?.[1];
    // Before Linux 5.9 only the mode is known.
    const filters = Number(read("Seccomp_filters") ?? read("Seccomp") ?? 0);
    return { namespaces: (read("NSpid") ?? "").split(/\s+/).length, filters };
  } catch {
    return undefined;
  }
}
