import { randomBytes } from "node:crypto";
import { link, open, rm } from "node:fs/promises";
import { PlainFileError, readPlainFile } from "@codex/plain-file";
import * as z from "zod/mini";
import { createIdentity, type NoiseIdentity } from "./keys.js";
import { loadMlKem, ML_KEM } from "./ml-kem.js";
import { X25519_BYTES } from "./x25519.js";

const schema = z.object({ version: z.literal(1), x25519: z.string(), mlkem768_seed: z.string() });

/** Longest identity file, bytes. */
const MAX_FILE_BYTES = 1024;

/**
 * Reads the identity in a file, so that an executor has the same key after a restart; a missing file is created with new keys, readable by
 * the user only.
 * @throws Error naming the file, never its content
 */
export async function openIdentityFile(file: string): Promise<NoiseIdentity> {
  const mlKem = await loadMlKem();
  const secrets = parse((await read(file)) ?? (await create(file)));
  if (secrets === undefined) throw new Error(`${file} does not contain the key of an executor`);
  return createIdentity(mlKem, secrets);
}

async function read(file: string): Promise<string | undefined> {
  try {
    return String(await readPlainFile(file, { maxBytes: MAX_FILE_BYTES }));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    if (error instanceof PlainFileError) throw new Error(`${file}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Creates the file atomically, and never replaces one: two executors that start concurrently both get the keys of the first. */
async function create(file: string): Promise<string> {
  const x25519 = randomBytes(X25519_BYTES).toString("base64");
  const text = `${JSON.stringify({ version: 1, x25519, mlkem768_seed: randomBytes(ML_KEM.seed).toString("base64") })}\n`;
  const draft = `${file}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(draft, file);
    return text;
  } catch (error) {
    const existing = await read(file);
    if (existing === undefined) throw error;
    return existing;
  } finally {
    await rm(draft, { force: true });
  }
}

function parse(text: string): { x25519: Buffer; mlkem768Seed: Buffer } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = z.safeParse(schema, value);
  if (!parsed.success) return undefined;
  const x25519 = Buffer.from(parsed.data.x25519, "base64");
  const mlkem768Seed = Buffer.from(parsed.data.mlkem768_seed, "base64");
  return x25519.length === X25519_BYTES && mlkem768Seed.length === ML_KEM.seed ? { x25519, mlkem768Seed } : undefined;
}
