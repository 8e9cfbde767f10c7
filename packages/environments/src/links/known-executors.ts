import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { withFileLock } from "@codex/file-lock";
import { readPlainFile } from "@codex/plain-file";
import { MAX_KNOWN_EXECUTORS_BYTES } from "../limits.js";
import { LinkError } from "./link-error.js";

/** An environment of a registry. */
export interface RegisteredEnvironment {
  registryUrl: string;
  environmentId: string;
}

/** Fingerprints of trusted executors, in a file. */
export interface KnownExecutors {
  /** @throws LinkError if the key differs from the trusted one. An executor that is not in the file is accepted. */
  check(environment: RegisteredEnvironment, fingerprint: string): Promise<void>;
  /** Trusts only this key from now on. Returns the previously trusted one. */
  trust(environment: RegisteredEnvironment, fingerprint: string): Promise<string | undefined>;
}

/** The trusted executors in a file, which need not exist. */
export function openKnownExecutors(file: string): KnownExecutors {
  return {
    async check(environment, fingerprint) {
      const known = (await read(file))[nameOf(environment)];
      if (known === undefined || known === fingerprint) return;
      throw new LinkError(
        "unauthorized",
        `the key of its executor has changed: ${fingerprint}, not ${known}, which ${file} trusts. If that is meant, ` +
          `\`codex environment trust\` accepts the new one; otherwise the connection may be intercepted`,
      );
    },
    async trust(environment, fingerprint) {
      await mkdir(dirname(file), { recursive: true });
      return withFileLock(`${file}.lock`, {}, async () => {
        const all = await read(file);
        const name = nameOf(environment);
        await write(file, { ...all, [name]: fingerprint });
        return all[name];
      });
    },
  };
}

const nameOf = ({ registryUrl, environmentId }: RegisteredEnvironment): string =>
  `${registryUrl.trim().replace(/(?<!\/)\/+$/, "")} ${environmentId}`;

/** Atomically: a partial file would be rejected. */
async function write(file: string, all: Record<string, string>): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(draft, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

async function read(file: string): Promise<Record<string, string>> {
  let text: string;
  try {
    text = String(await readPlainFile(file, { maxBytes: MAX_KNOWN_EXECUTORS_BYTES }));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw new LinkError("unauthorized", `the trusted executors cannot be read: ${String(error)}`);
  }
  const parsed = parse(text);
  if (parsed === undefined) throw new LinkError("unauthorized", `${file} is not a list of trusted executors`);
  return parsed;
}

function parse(text: string): Record<string, string> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    const entries = Object.entries(value).filter(([, each]) => typeof each === "string");
    return entries.length === Object.keys(value).length ? Object.fromEntries(entries) : undefined;
  } catch {
    return undefined;
  }
}
