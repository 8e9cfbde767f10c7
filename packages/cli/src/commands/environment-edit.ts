import { resolve } from "node:path";
import { codexHome } from "@codex/config";
import {
  addEnvironment,
  EnvironmentsConfigError,
  type NewEnvironment,
  removeEnvironment,
  trustConfigured,
} from "@codex/environments";
import { defined } from "@codex/values";
import { loadConfigured } from "../configured-environments.js";
import { knownExecutorsFile } from "../environments.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { print } from "../notice.js";

export interface EnvironmentAddOptions {
  tokenFile?: string;
  tokenEnv?: string;
  caFile?: string;
  cwd?: string;
  env: string[];
  fallback?: string;
  eager?: boolean;
  default: boolean;
}

/** Adds an environment to its file. @throws CommandError, EnvironmentsConfigError: nothing was written */
export async function runEnvironmentAdd(
  id: string,
  target: readonly string[],
  options: EnvironmentAddOptions,
): Promise<void> {
  const [first = "", ...args] = target[0] === "--" ? target.slice(1) : target;
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(first);
  if (isUrl && args.length > 0)
    throw new CommandError(
      `unexpected argument ${JSON.stringify(args[0])} after the URL of an environment; options come before the id`,
      EXIT.usage,
    );
  const { tokenFile, tokenEnv, caFile, cwd, env, fallback, eager } = options;
  const variables = Object.fromEntries(env.map(splitPair));
  const file = await add(
    {
      id,
      ...(isUrl ? { url: first } : { program: first, ...(args.length === 0 ? {} : { args }) }),
      ...defined({ cwd }),
      ...(env.length === 0 ? {} : { env: variables }),
      ...(tokenFile === undefined ? {} : { auth_bearer_token_file: resolve(tokenFile) }),
      ...defined({ auth_bearer_token_env: tokenEnv }),
      ...(caFile === undefined ? {} : { ca_file: resolve(caFile) }),
      ...defined({ fallback, eager }),
    },
    options.default,
  );
  print(`added \`${id}\` to ${file}; \`codex environment check ${id}\` connects it\n`);
}

/** @throws CommandError for an invalid argument, whose line in a file was not written; EnvironmentsConfigError for an invalid file */
async function add(added: NewEnvironment, isDefault: boolean): Promise<string> {
  try {
    return await addEnvironment(codexHome(), added, isDefault);
  } catch (error) {
    // Without a key it is about a file, not about an argument.
    if (!(error instanceof EnvironmentsConfigError) || error.problem.key === undefined) throw error;
    // If the files were invalid before, this throws the error with file and line.
    await loadConfigured();
    const { file: _, line: _1, ...problem } = error.problem;
    throw new CommandError(`nothing was added: ${new EnvironmentsConfigError(problem).message}`, EXIT.usage, {
      cause: error,
    });
  }
}

/** Removes an environment from the files. @throws CommandError, EnvironmentsConfigError: nothing was written */
export async function runEnvironmentRemove(id: string): Promise<void> {
  const files = await removeEnvironment(codexHome(), id);
  if (files.length === 0) throw new CommandError(`no file in ${codexHome()} has an environment \`${id}\``);
  print(`removed \`${id}\` from ${files.join(" and ")}\n`);
}

function splitPair(pair: string): [string, string] {
  const equals = pair.indexOf("=");
  if (equals >= 1) return [pair.slice(0, equals), pair.slice(equals + 1)];
  throw new CommandError(`--env ${JSON.stringify(pair)}: expected NAME=VALUE`, EXIT.usage);
}

/** Pins the key of an executor behind a registry. @throws EnvironmentsConfigError, EnvironmentError, LinkError */
export async function runEnvironmentTrust(id: string, fingerprint: string | undefined): Promise<void> {
  const trusted = await trustConfigured(await loadConfigured(), id, { file: knownExecutorsFile(), fingerprint });
  const instead = trusted.former === undefined ? "" : `, and no longer ${trusted.former}`;
  print(`${id}: ${trusted.fingerprint} is trusted${instead}\n`);
}
