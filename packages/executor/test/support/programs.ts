import { spawnSync } from "node:child_process";

/** Whether a program is on this host. */
export const hasProgram = (name: string): boolean => spawnSync("sh", ["-c", `command -v "$0"`, name]).status === 0;
