import { realpathSync } from "node:fs";
import type { Sandbox } from "@codex/executor-protocol";
import type { CommandSandbox, SandboxableCommand } from "@codex/sandbox";
import { getAccess, type RestrictedFiles } from "@codex/sandbox";
import { identify } from "./helper.js";
import type { HelperCommand } from "./helper-command.js";

/** A sandbox that a helper can start in, with a fingerprint of what it allows. */
export interface HelperProfile {
  sandbox: Sandbox;
  command: SandboxableCommand;
  /** Changes with every path of the sandbox, and with what is at that path. */
  fingerprint: string;
}

/**
 * The sandbox of a helper: without network, plus what the helper needs to run: its own files and, as in Codex 0.169.0,
 * the parts of the system that every program needs. Rejects with a StartError `sandbox_invalid`.
 */
export async function resolveForHelper(
  wanted: Sandbox,
  host: CommandSandbox,
  helper: HelperCommand,
): Promise<HelperProfile> {
  const requested = withEntries(wanted, []);
  const patterns = await host.search(requested);
  const resolveFiles = (sandbox: Sandbox): RestrictedFiles => {
    const { fileSystem } = host.resolve(sandbox, patterns);
    if (fileSystem === "unrestricted") throw new Error("the sandbox restricts nothing");
    return fileSystem;
  };
  const found = resolveFiles(requested);
  const missing = listMissing(found, helper);
  const sandbox = missing.length === 0 ? requested : withEntries(wanted, missing);
  const profile = missing.length === 0 ? found : resolveFiles(sandbox);
  const [file] = helper.argv;
  return {
    sandbox,
    command: { argv: helper.argv, file, cwd: "/usr", env: {}, session: "new", rechecked: true },
    fingerprint: JSON.stringify([
      profile.minimal,
      profile.entries.map(({ path, access, kind, missing: isMissing }) => [
        path,
        access,
        kind,
        isMissing ? "kept" : identify(path),
      ]),
    ]),
  };
}

type Entries = Extract<
  Extract<Sandbox["permissions"], { type: "managed" }>["file_system"],
  { type: "restricted" }
>["entries"];

function withEntries(sandbox: Sandbox, more: Entries): Sandbox {
  const { permissions } = sandbox;
  if (permissions.type !== "managed" || permissions.file_system.type !== "restricted") return sandbox;
  const { file_system: files } = permissions;
  return {
    ...sandbox,
    permissions: {
      ...permissions,
      network: "restricted",
      file_system: { ...files, entries: [...files.entries, ...more] },
    },
  };
}

function listMissing(files: RestrictedFiles, { argv, reads }: HelperCommand): Entries {
  const isVisible = (path: string) => !["none", "deny"].includes(getAccess(files, realpathSync(path)));
  const own = [argv[0], ...reads].filter((path) => !isVisible(path));
  return [
    ...own.map((path): Entries[number] => ({ path: { type: "path", path }, access: "read" })),
    ...(isVisible("/") || files.minimal
      ? []
      : [{ path: { type: "special", value: { kind: "minimal" } }, access: "read" } as const]),
  ];
}
