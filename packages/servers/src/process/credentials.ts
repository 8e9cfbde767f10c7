import { homedir } from "node:os";
import type { TlsIdentity } from "@codex/channel/websocket";
import { readNamedFileSync, type WatchLog, watchFiles } from "@codex/plain-file";
import { defined, messageOf } from "@codex/values";
import { MAX_CREDENTIAL_BYTES } from "../limits.js";
import { CommandError, SERVER_EXIT } from "./command-error.js";
import { checkTlsIdentity } from "./tls-identity.js";

/** Where the credentials of a client are read from. */
export interface CredentialArguments {
  /** File with the bearer token for a websocket. */
  tokenFile?: string;
  /** File with further trusted certificates (PEM). */
  caFile?: string;
  /** Files with a certificate and its key (PEM), both or neither. */
  clientCert?: string;
  clientKey?: string;
}

/** Credentials for a websocket connection. */
export interface Credentials {
  token?: string;
  /** PEM. */
  ca?: string;
  /** PEM. */
  identity?: { cert: string; key: string };
}

/** Environment variable with the token, used without `--token-file`. */
const TOKEN_VARIABLE = "CODEX_EXECUTOR_TOKEN";

/** @throws CommandError naming the file that cannot be read */
export function readCredentials({ tokenFile, caFile, clientCert, clientKey }: CredentialArguments): Credentials {
  const token = readToken(tokenFile) ?? (process.env[TOKEN_VARIABLE]?.trim() || undefined);
  if (token !== undefined)
    checkToken(token, tokenFile === undefined ? TOKEN_VARIABLE : `the token file ${tokenFile}`, IN_HEADER);
  const ca = caFile === undefined ? undefined : readText(caFile, "--ca-file");
  if (ca !== undefined && !ca.includes("-----BEGIN CERTIFICATE-----")) {
    throw new CommandError(`--ca-file ${caFile} contains no certificate in PEM form`, SERVER_EXIT.usage);
  }
  const identity = readIdentity(
    { option: "--client-cert", path: clientCert },
    { option: "--client-key", path: clientKey },
  );
  return defined({ token, ca, identity });
}

/** The token in a file, trimmed; undefined without a file. @throws CommandError */
function readToken(path: string | undefined, option = "--token-file"): string | undefined {
  if (path === undefined) return undefined;
  const text = readText(path, option).trim();
  if (text === "") throw new CommandError(`the token file ${path} is empty`, SERVER_EXIT.usage);
  return text;
}

/** The token of a listener's clients in a file, trimmed; undefined without a file. @throws CommandError */
function readListenToken(path: string | undefined, option = "--token-file"): string | undefined {
  const token = readToken(path, option);
  if (token !== undefined) checkToken(token, `the token file ${path}`, IN_BEARER);
  return token;
}

/** The same, read again when the file has changed. @throws CommandError */
export function watchListenToken(path: string | undefined, log: WatchLog, option?: string): (() => string) | undefined {
  const token = readListenToken(path, option);
  if (path === undefined || token === undefined) return undefined;
  const parse = () => readListenToken(path, option) ?? token;
  return watchFiles({ paths: [expand(path)], maxBytes: MAX_CREDENTIAL_BYTES, parse, log });
}

/** What a header can carry. */
const IN_HEADER = { pattern: /^[\t -~]+$/, other: "a line break, a control character" };

/** What is read of `Authorization: Bearer …` by the listeners that compare whole tokens. */
const IN_BEARER = { pattern: /^[!-~]+$/, other: "a blank, a line break" };

/** Without this, every client would be refused, for another reason. */
function checkToken(token: string, name: string, { pattern, other }: typeof IN_HEADER): void {
  if (pattern.test(token)) return;
  throw new CommandError(
    `${name} has ${other} or a character outside ASCII; such a token cannot be sent`,
    SERVER_EXIT.usage,
  );
}

/** Paths of the certificate and the key of a listener, PEM; both or neither. */
export interface TlsArguments {
  tlsCert?: string;
  tlsKey?: string;
}

/** The certificate and key of a listener, PEM; undefined without either. @throws CommandError */
export const readTlsIdentity = ({ tlsCert, tlsKey }: TlsArguments): { cert: string; key: string } | undefined =>
  readIdentity({ option: "--tls-cert", path: tlsCert }, { option: "--tls-key", path: tlsKey });

/** A file, and the option that names it. */
interface NamedFile {
  option: string;
  path: string | undefined;
}

/** A certificate and its key, PEM; undefined without either. @throws CommandError */
function readIdentity(cert: NamedFile, key: NamedFile): { cert: string; key: string } | undefined {
  if (cert.path === undefined && key.path === undefined) return undefined;
  if (cert.path === undefined || key.path === undefined) {
    const [given, missing] = cert.path === undefined ? [key, cert] : [cert, key];
    throw new CommandError(`${given.option} also needs ${missing.option}`, SERVER_EXIT.usage);
  }
  const read = { cert: readText(cert.path, cert.option), key: readText(key.path, key.option) };
  checkTlsIdentity(
    { option: cert.option, path: cert.path, text: read.cert },
    { option: key.option, path: key.path, text: read.key },
  );
  return read;
}

/** The same, read again when one of the files has changed. @throws CommandError */
export function watchTlsIdentity(options: TlsArguments, log: WatchLog): (() => TlsIdentity) | undefined {
  const identity = readTlsIdentity(options);
  const { tlsCert, tlsKey } = options;
  if (identity === undefined || tlsCert === undefined || tlsKey === undefined) return undefined;
  const paths = [expand(tlsCert), expand(tlsKey)];
  return watchFiles({ paths, maxBytes: MAX_CREDENTIAL_BYTES, parse: () => readTlsIdentity(options) ?? identity, log });
}

const expand = (path: string): string => path.replace(/^~(?=\/)/, homedir());

function readText(path: string, option: string): string {
  try {
    return readNamedFileSync(expand(path), { maxBytes: MAX_CREDENTIAL_BYTES }).toString();
  } catch (cause) {
    const detail = messageOf(cause);
    throw new CommandError(`${option} cannot be read: ${detail}`, SERVER_EXIT.usage, { cause });
  }
}
