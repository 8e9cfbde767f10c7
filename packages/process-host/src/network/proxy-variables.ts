import { PROXY_PORT } from "@codex/sandbox";

/** The variables by which programs find a proxy, as Codex sets them; the loopback is the session's own. */
export function renderProxyVariables(address: string, port = PROXY_PORT): Readonly<Record<string, string>> {
  const http = `http://${address}:${port}`;
  const all = (names: readonly string[], value: string) => names.map((name) => [name, value] as const);
  return Object.fromEntries([
    ...all(HTTP_VARIABLES, http),
    ...all(SOCKS_VARIABLES, `socks5h://${address}:${port}`),
    ...all(EXCEPTION_VARIABLES, "localhost,127.0.0.1,::1"),
    ["CODEX_NETWORK_PROXY_ACTIVE", "1"],
    ["ELECTRON_GET_USE_PROXY", "true"],
    ["NODE_USE_ENV_PROXY", "1"],
  ]);
}

const withLowerCase = (names: readonly string[]) => names.flatMap((name) => [name, name.toLowerCase()]);

const HTTP_VARIABLES = [
  ...withLowerCase([
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "WS_PROXY",
    "WSS_PROXY",
    "NPM_CONFIG_HTTP_PROXY",
    "NPM_CONFIG_HTTPS_PROXY",
    "NPM_CONFIG_PROXY",
  ]),
  "YARN_HTTP_PROXY",
  "YARN_HTTPS_PROXY",
  "BUNDLE_HTTP_PROXY",
  "BUNDLE_HTTPS_PROXY",
  "PIP_PROXY",
  "DOCKER_HTTP_PROXY",
  "DOCKER_HTTPS_PROXY",
];
const SOCKS_VARIABLES = withLowerCase(["ALL_PROXY", "FTP_PROXY"]);
const EXCEPTION_VARIABLES = [...withLowerCase(["NO_PROXY", "NPM_CONFIG_NOPROXY"]), "BUNDLE_NO_PROXY"];
