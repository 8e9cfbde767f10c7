import type { Plugin } from "esbuild";

export const gateThread: Plugin;
export function gateThreadOfSources(): { name: string; load(id: string): Promise<string> | undefined };
