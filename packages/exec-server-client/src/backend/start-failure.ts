import { RpcError } from "@codex/channel";
import type { ProcessSpec } from "@codex/exec-backend";
import { START_ERROR_CODES, StartError, type StartErrorCode, UnknownStartError } from "@codex/exec-backend";
import { ERROR_CODES, METHODS, toFileUrl } from "@codex/exec-server-protocol";
import { defined } from "@codex/values";
import * as z from "zod/mini";
import { ClientError } from "../errors.js";
import type { Calls } from "../session/calls.js";

type Ask = Pick<Calls, "call">;

/**
 * Converts the refusal of a start. Codex 0.169.0 reports the plain system error, which is the same for a missing program
 * and a missing directory, so the directory is checked with a request.
 */
export async function toStartError(error: RpcError, spec: ProcessSpec, client: Ask): Promise<StartError> {
  const named = getNamedCode(error);
  if (named !== undefined) return notStarted(named, spec, error);
  const code = guessCode(error);
  if (code === "program_not_found" || code === "cwd_not_directory") {
    // A failure of this request does not matter: nothing was started in any case.
    const problem = await findDirectoryProblem(spec.cwd, client).catch(() => undefined);
    if (problem !== undefined) return new StartError(problem.code, problem.message, { cause: error });
    return notStarted("program_not_found", spec, error);
  }
  // Without a code of ours it may be the directory as well, which no request can tell apart.
  const place =
    code === "not_executable" && DENIED.test(error.message) ? `, for it or for working directory \`${spec.cwd}\`` : "";
  return notStarted(code, spec, error, place);
}

const DENIED = /\(os error 13\)/;

/**
 * Checks that a directory exists before a start on a terminal: Codex 0.169.0 would silently use the home directory
 * instead. @throws StartError
 */
export async function checkRemoteDirectory(cwd: string, client: Ask, signal: AbortSignal): Promise<void> {
  const problem = await findDirectoryProblem(cwd, client, signal);
  if (problem !== undefined) throw new StartError(problem.code, problem.message);
}

const metadata = z.object({ isDirectory: z.boolean() });

async function findDirectoryProblem(
  cwd: string,
  client: Ask,
  signal?: AbortSignal,
): Promise<{ code: StartErrorCode; message: string } | undefined> {
  const name = `working directory \`${cwd}\``;
  try {
    const params = { path: toFileUrl(cwd), sandbox: null };
    const options = { idempotent: true, ...defined({ signal }) };
    const found = metadata.safeParse(await client.call(METHODS.fsGetMetadata, params, options));
    if (!found.success || found.data.isDirectory) return undefined;
    return { code: "cwd_not_directory", message: `${name} is not a directory` };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    // A server without file calls cannot check this.
    if (error.code !== ERROR_CODES.notFound) return undefined;
    return { code: "cwd_not_found", message: `${name} does not exist` };
  }
}

const namedError = z.object({ code: z.enum(START_ERROR_CODES) });

/** The code that servers of this project send. */
const getNamedCode = ({ data }: RpcError): StartErrorCode | undefined => namedError.safeParse(data).data?.code;

/** Messages of other servers, by the errno of the system. */
const TEXTS: readonly (readonly [RegExp, StartErrorCode])[] = [
  [/cannot sandbox/, "sandbox_unavailable"],
  [/sandbox cannot/, "sandbox_invalid"],
  [/\(os error 2\)|was not found|does not exist|no viable candidates/i, "program_not_found"],
  [/\(os error 20\)|is not a directory/, "cwd_not_directory"],
  [/\(os error (8|13)\)|not executable/, "not_executable"],
  [/\(os error 7\)|the limit is \d+ bytes/, "too_large"],
  [/no terminal/, "no_terminal"],
  [/nul byte|NUL byte|is not valid$/, "nul_byte"],
];

const guessCode = ({ message }: RpcError): StartErrorCode =>
  TEXTS.find(([pattern]) => pattern.test(message))?.[1] ?? "os_error";

function notStarted(code: StartErrorCode, { argv }: ProcessSpec, cause: RpcError, more = ""): StartError {
  const text = `program \`${argv[0]}\` was not started by the exec-server: ${cause.message}${more}`;
  return new StartError(code, text, { cause });
}

/**
 * Converts a failure without a response: an UnknownStartError if the request may have reached the server, else the error
 * itself.
 */
export function classifyFailure(error: unknown, isSent: boolean, { argv }: ProcessSpec): unknown {
  if (error instanceof ClientError) {
    const mayRun = isSent && error.code !== "duplicate_process";
    return mayRun ? new UnknownStartError(error.message, { cause: error }) : error;
  }
  if (!(error instanceof RpcError)) return error;
  const text = `program \`${argv[0]}\` was not started, as no session was opened: ${error.message}`;
  return new StartError("unreachable", text, { cause: error });
}
