import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import {
  createEnvironmentFetch,
  type HttpConfig,
  logIn,
  type McpServerConfig,
  readOAuthSettings,
} from "@codex/mcp-client";
import { messageOf } from "@codex/values";
import { loadChecked } from "../configured-environments.js";
import { chooseEnvironment } from "../environments.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { openCredentials } from "../mcp/logins.js";
import { printLine, say } from "../notice.js";
import { type FeatureFlags, openConfig, settingsOf } from "../open-config.js";
import { createOwnEnvironment } from "../own-environment.js";
import { findServer } from "./mcp.js";

/** Options of `codex mcp login`. */
export interface McpLoginOptions extends FeatureFlags {
  scopes?: string;
  browser: boolean;
}

/** Logs in to a server. Its tokens are kept where Codex keeps them, and are shown nowhere. */
export async function runMcpLogin(name: string, options: McpLoginOptions): Promise<void> {
  const config = await openConfig({ config: settingsOf(options) });
  const server = findServer(config, name);
  const { url, oauth } = findHttp(server);
  const settings = readOAuthSettings(config.table);
  if (settings.store === "keyring") {
    throw new CommandError(
      'mcp_oauth_credentials_store = "keyring" in config.toml: tokens cannot be kept in a keyring here; "file" keeps them in a file for this user alone',
    );
  }
  const scopes = options.scopes?.split(",").flatMap((scope) => scope.trim() || []);
  const place = await openPlace(server);
  const stop = new AbortController();
  try {
    await logIn({
      server: { name, url },
      oauth: { ...oauth, callbackUrl: oauth.callbackUrl ?? settings.callbackUrl },
      scopes,
      store: openCredentials(),
      fetch: createEnvironmentFetch(place.http),
      callbackPort: settings.callbackPort,
      showUrl(address, accept) {
        say(`log in to \`${name}\` in a browser:`);
        printLine(address);
        if (options.browser) openBrowser(address);
        else readPasted(accept, stop.signal);
      },
      signal: stop.signal,
    });
  } catch (cause) {
    throw new CommandError(`not logged in to \`${name}\`: ${messageOf(cause)}`, EXIT.failure, { cause });
  } finally {
    stop.abort();
    await place.close();
  }
  printLine(`Successfully logged in to MCP server '${name}'.`);
}

/** Removes the tokens of a server. */
export async function runMcpLogout(name: string, options: FeatureFlags): Promise<void> {
  const { url } = findHttp(findServer(await openConfig({ config: settingsOf(options) }), name));
  const store = openCredentials();
  const server = { name, url };
  const isKept = (await store.read(server)) !== undefined;
  if (isKept) await store.write(server, undefined);
  printLine(isKept ? `Removed OAuth credentials for '${name}'.` : `No OAuth credentials stored for '${name}'.`);
}

function findHttp({ name, transport }: McpServerConfig): HttpConfig {
  if (transport.kind === "http") return transport;
  throw new CommandError(`MCP server \`${name}\` is a command; a login is for servers with \`url\``);
}

/** A server's address is that of its environment. */
async function openPlace({ environmentId }: McpServerConfig) {
  const own = createOwnEnvironment();
  if (environmentId === undefined || environmentId === own.id) return own;
  await own.close();
  const chosen = await chooseEnvironment(await loadChecked(EXIT.failure), environmentId, EXIT.failure);
  if (chosen === undefined) return createOwnEnvironment();
  return { http: chosen.environment.http, close: chosen.close };
}

/** A browser that cannot be started is no error: the URL is shown. */
function openBrowser(url: string): void {
  const child = spawn(process.platform === "darwin" ? "open" : "xdg-open", [url], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}

/** Takes lines of stdin until one is the answer. They are not shown: they have a code. */
function readPasted(accept: (url: string) => void, signal: AbortSignal): void {
  say("or paste here the URL that the browser came back with (it is not shown):");
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output, terminal: process.stdin.isTTY });
  lines.on("line", (line) => {
    try {
      if (line.trim() !== "") accept(line.trim());
    } catch (error) {
      say(`not taken: ${messageOf(error)}`);
    }
  });
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  signal.addEventListener("abort", () => {
    lines.close();
    process.stdin.destroy();
  });
}
