import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { type LoadedConfig, loadConfig } from "../src/load-config.js";

/** Loads configurations from files below a directory that each test has anew: `home`, `system` and `project`. */
export function useConfig(): {
  readonly base: string;
  /** `$BASE` in a file is that directory. Files of earlier calls in a test stay. @param flags of `-c` */
  load(files: Record<string, string>, flags?: readonly string[]): Promise<LoadedConfig>;
} {
  let base = "";
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), "codex-config-"));
  });
  afterEach(() => rm(base, { recursive: true }));
  return {
    get base() {
      return base;
    },
    async load(files, flags = []) {
      for (const [file, text] of Object.entries(files)) {
        await mkdir(dirname(join(base, file)), { recursive: true });
        await writeFile(join(base, file), text.replaceAll("$BASE", base));
      }
      return loadConfig({
        home: join(base, "home"),
        homeOrigin: { kind: "default" },
        system: join(base, "system"),
        directory: join(base, "project"),
        flags: flags.map((setting) => ({ flag: `-c ${setting}`, setting })),
      });
    },
  };
}
