import { messageOf } from "@codex/values";
import { parse } from "smol-toml";
import * as z from "zod/mini";
import { CommandError, SERVER_EXIT } from "../process/command-error.js";

/** One of the people whom a server serves, each as an operating-system user. */
export interface ServedUser {
  readonly name: string;
  /** SHA-256 of the bearer token; undefined for one who is known by a certificate. */
  readonly tokenDigest: Buffer | undefined;
  /** SHA-256 of the client's certificate (DER), hexadecimal in lower case; undefined for one who is known by a token. */
  readonly certificate: string | undefined;
  /** Name of the operating-system user. */
  readonly account: string;
  /** Where its programs start; default the home directory. */
  readonly directory: string | undefined;
  /** Options of its own server. */
  readonly options: readonly string[];
}

const sha256 = z.string().check(z.regex(/^(?:[0-9a-f]{2}:?){31}[0-9a-f]{2}$/i, "expected 64 hexadecimal digits"));
const userSchema = z.strictObject({
  token_sha256: z.optional(sha256),
  certificate_sha256: z.optional(sha256),
  account: z.optional(z.string().check(z.regex(/^[a-z_][a-z0-9_.-]{0,31}\$?$/i, "expected the name of an account"))),
  directory: z.optional(z.string().check(z.regex(/^\//, "expected an absolute path"))),
  options: z.optional(z.array(z.string())),
});
const fileSchema = z.strictObject({ users: z.record(z.string().check(z.regex(/^[\w.-]{1,64}$/)), userSchema) });

/** Options that the server of a user gets from the one in front of it. */
const RESERVED = /^--(?:listen|token-file|users|attach|serve-socket|remote|tls-|allow-insecure|ws-)/;

/** The users that the text of a file names. @throws CommandError naming the file and what is wrong in it */
export function parseUserFile(path: string, text: string): readonly ServedUser[] {
  const fail = (why: string, cause?: unknown) =>
    new CommandError(`--users ${path}: ${why}`, SERVER_EXIT.usage, { cause });
  let table: unknown;
  try {
    table = parse(text);
  } catch (cause) {
    throw fail(messageOf(cause).split("\n", 1)[0] ?? "it cannot be read", cause);
  }
  const read = fileSchema.safeParse(table);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw fail(`${issue?.path.join(".") || "the file"}: ${issue?.message ?? "it is invalid"}`);
  }
  const users = Object.entries(read.data.users).map(([name, user]): ServedUser => {
    const { token_sha256, certificate_sha256, account = name, directory, options = [] } = user;
    if (token_sha256 === undefined && certificate_sha256 === undefined) {
      throw fail(`users.${name} needs token_sha256 or certificate_sha256`);
    }
    const reserved = options.find((option) => RESERVED.test(option));
    if (reserved !== undefined) throw fail(`users.${name}.options: ${reserved} is given by this server`);
    const tokenDigest = token_sha256 === undefined ? undefined : Buffer.from(toHex(token_sha256), "hex");
    const certificate = certificate_sha256 === undefined ? undefined : toHex(certificate_sha256);
    return { name, tokenDigest, certificate, account, directory, options };
  });
  if (users.length === 0) throw fail("there are no users");
  const names = new Map<string, string>();
  const claim = (what: string, digest: string | undefined, name: string) => {
    const other = digest === undefined ? undefined : names.get(`${what} ${digest}`);
    if (other !== undefined) throw fail(`users.${name} and users.${other} have the same ${what}`);
    names.set(`${what} ${digest}`, name);
  };
  for (const { name, tokenDigest, certificate } of users) {
    if (tokenDigest !== undefined) claim("token", tokenDigest.toString("hex"), name);
    if (certificate !== undefined) claim("certificate", certificate, name);
  }
  return users;
}

/** As openssl prints it, or without colons. */
const toHex = (digest: string): string => digest.replaceAll(":", "").toLowerCase();
