import { McpConfigError } from "./config-error.js";

/** The settings of all logins. */
export interface OAuthSettings {
  /** Where Codex keeps credentials. Here it is a file, which `auto` is as well. */
  store: "auto" | "file" | "keyring";
  /** Port of the callback on 127.0.0.1; undefined for any. */
  callbackPort: number | undefined;
  /** Where the browser comes back to, for servers that configure nothing else. */
  callbackUrl: string | undefined;
}

/** @param table the parsed `config.toml`: `mcp_oauth_credentials_store`, `mcp_oauth_callback_port`, `mcp_oauth_callback_url`. @throws McpConfigError */
export function readOAuthSettings(table: Readonly<Record<string, unknown>>): OAuthSettings {
  const {
    mcp_oauth_credentials_store: store = "auto",
    mcp_oauth_callback_port: port,
    mcp_oauth_callback_url: url,
  } = table;
  if (store !== "auto" && store !== "file" && store !== "keyring") {
    throw new McpConfigError("mcp_oauth_credentials_store", 'expected "auto", "file" or "keyring"');
  }
  if (port !== undefined && !isPort(port)) {
    throw new McpConfigError("mcp_oauth_callback_port", "expected a number from 1 to 65535");
  }
  if (url !== undefined && (typeof url !== "string" || !URL.canParse(url))) {
    throw new McpConfigError("mcp_oauth_callback_url", "expected a URL");
  }
  return { store, callbackPort: port, callbackUrl: url };
}

const isPort = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 65_535;
