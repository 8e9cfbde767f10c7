export { McpConfigError } from "./config/config-error.js";
export { type OAuthSettings, readOAuthSettings } from "./config/oauth-settings.js";
export { parseMcpServers } from "./config/parse-servers.js";
export type { HttpConfig, McpApprovalMode, McpServerConfig, OAuthConfig, StdioConfig } from "./config/server-config.js";
export {
  type CredentialStore,
  type Credentials,
  createCredentialFile,
  type OAuthServer,
} from "./oauth/credential-store.js";
export { type LoginOptions, logIn } from "./oauth/log-in.js";
export { type McpLoginState, readLoginState } from "./oauth/login-state.js";
export {
  type AddOptions,
  type ConnectOptions,
  connectMcpServers,
  McpServerError,
  type McpServerState,
  type McpServers,
  startMcpServers,
} from "./servers/connect-servers.js";
export { type McpTools, type McpToolsOptions, openMcpTools } from "./servers/open-tools.js";
export type { AskPerson, McpAnswer, McpField, McpQuestion, McpValue } from "./servers/questions.js";
export type { McpServerStatus } from "./servers/server.js";
export type { McpPlace } from "./servers/server-transport.js";
export type { LeftOut } from "./tools/server-tools.js";
export { type ExecutorStdioServer, executorStdio } from "./transports/executor-stdio.js";
export { createEnvironmentFetch } from "./transports/http-fetch.js";
export { type StdioProcess, type StdioServer, StdioTransport, type StdioTransportOptions } from "./transports/stdio.js";
