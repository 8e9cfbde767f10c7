import { join } from "node:path";
import { codexHome } from "@codex/config";
import {
  type CredentialStore,
  createCredentialFile,
  createEnvironmentFetch,
  type McpLoginState,
  type McpServerConfig,
  readLoginState,
} from "@codex/mcp-client";
import { createOwnEnvironment } from "../own-environment.js";

/** Where Codex keeps the logins to MCP servers in a file. */
export const openCredentials = (): CredentialStore => createCredentialFile(join(codexHome(), ".credentials.json"));

/** How calls to each server are authorized, by name. Those of other environments are not asked. */
export async function readLogins(servers: readonly McpServerConfig[]): Promise<ReadonlyMap<string, McpLoginState>> {
  const own = createOwnEnvironment();
  const options = { store: openCredentials(), fetch: createEnvironmentFetch(own.http) };
  try {
    const states = servers.map(async (server): Promise<[string, McpLoginState]> => {
      const isHere = (server.environmentId ?? own.id) === own.id;
      const unreachable = { stream: () => Promise.reject(new Error("not asked")) };
      const fetch = isHere ? options.fetch : createEnvironmentFetch(unreachable);
      return [server.name, await readLoginState(server, { ...options, fetch })];
    });
    return new Map(await Promise.all(states));
  } finally {
    await own.close();
  }
}
