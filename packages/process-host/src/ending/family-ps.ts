import { execFile } from "node:child_process";
import type { Family, FamilyQuery, FamilyWatch } from "./family.js";
import { signalProcess } from "./process-group.js";

/** Group and descendants as `ps` tells them, where there is no /proc. */
export function watchByPs({ getGroup }: FamilyQuery): FamilyWatch {
  return {
    list: () =>
      new Promise((resolve) => {
        execFile("ps", ["-A", "-o", "pid=,ppid=,pgid=,stat=,comm="], (error, stdout) => {
          resolve(error ? undefined : toFamily(stdout.split("\n").flatMap(parseRow), getGroup()));
        });
      }),
    signal: signalProcess,
  };
}

interface Row {
  pid: number;
  ppid: number;
  group: number;
  state: string;
  name: string;
}

function parseRow(line: string): Row[] {
  const [pid, ppid, group, state = "Z", ...name] = line.trim().split(/\s+/);
  if (state.startsWith("Z")) return [];
  return [{ pid: Number(pid), ppid: Number(ppid), group: Number(group), state, name: name.join(" ") }];
}

function toFamily(rows: readonly Row[], pgid: number | undefined): Family {
  const family: Family = { members: [], strays: [], complete: true };
  const found = new Set<number>();
  // Until a round finds no child more: children may stand before their parents.
  for (let known = -1; known < found.size; ) {
    known = found.size;
    for (const { pid, ppid, group, state, name } of rows) {
      if (found.has(pid) || !(group === pgid || found.has(ppid))) continue;
      found.add(pid);
      (group === pgid ? family.members : family.strays).push({ pid, name, stopped: state.startsWith("T") });
    }
  }
  return family;
}
