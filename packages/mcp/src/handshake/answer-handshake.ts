import { INSTRUCTIONS, SERVER, TASKS_EXTENSION } from "./identity.js";

/** A response, and the id of its request. */
export interface HandshakeAnswer {
  id: string | number;
  response: object;
}

/**
 * The response to `initialize` or `server/discover`, the first request of a client, without the SDK: loading that takes longer than
 * everything else at the start of a server. Undefined for any request but a plain one, which the SDK would certainly accept.
 * @param line a JSON-RPC message
 * @param version of the server
 */
export function answerHandshake(line: string, version: string): HandshakeAnswer | undefined {
  const request = parse(line);
  if (!isObject(request) || !hasOnly(request, ["jsonrpc", "id", "method", "params"])) return undefined;
  const { jsonrpc, id, method, params } = request;
  if (jsonrpc !== "2.0" || !(typeof id === "string" || Number.isSafeInteger(id)) || !isObject(params)) return undefined;
  const result =
    method === "initialize"
      ? initialize(params, version)
      : method === "server/discover"
        ? discover(params, version)
        : undefined;
  if (result === undefined) return undefined;
  return { id: id as string | number, response: { result, jsonrpc, id } }; // checked above
}

/** Revisions with `initialize`. */
const INITIALIZED_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];
/** The revision with `server/discover`. */
const DISCOVERED_VERSION = "2026-07-28";

const CAPABILITIES = { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } };

function initialize(params: JsonObject, version: string): object | undefined {
  const { protocolVersion, capabilities, clientInfo } = params;
  if (!hasOnly(params, ["protocolVersion", "capabilities", "clientInfo"])) return undefined;
  if (!INITIALIZED_VERSIONS.some((known) => known === protocolVersion)) return undefined;
  if (!isCapabilities(capabilities) || !isImplementation(clientInfo)) return undefined;
  const serverInfo = { ...SERVER, version };
  return { protocolVersion, capabilities: CAPABILITIES, serverInfo, instructions: INSTRUCTIONS };
}

function discover(params: JsonObject, version: string): object | undefined {
  const meta = params._meta;
  const [protocolVersion, clientInfo, capabilities] = ["protocolVersion", "clientInfo", "clientCapabilities"].map(
    (name) => `${META}${name}`,
  ) as [string, string, string]; // of three names
  if (!hasOnly(params, ["_meta"]) || !isObject(meta)) return undefined;
  if (!hasOnly(meta, [protocolVersion, clientInfo, capabilities])) return undefined;
  if (meta[protocolVersion] !== DISCOVERED_VERSION) return undefined;
  if (!isCapabilities(meta[capabilities]) || !isImplementation(meta[clientInfo])) return undefined;
  return {
    supportedVersions: [DISCOVERED_VERSION],
    capabilities: { ...CAPABILITIES, extensions: { [TASKS_EXTENSION]: {} } },
    instructions: INSTRUCTIONS,
    resultType: "complete",
    ttlMs: 0,
    cacheScope: "private",
    _meta: { [`${META}serverInfo`]: { ...SERVER, version } },
  };
}

const META = "io.modelcontextprotocol/";

type JsonObject = Readonly<Record<string, unknown>>;

/** Name and version, and perhaps further texts. */
function isImplementation(value: unknown): boolean {
  if (!isObject(value) || !hasOnly(value, ["name", "version", "title", "description", "websiteUrl"])) return false;
  const { name, version } = value;
  return [name, version, ...Object.values(value)].every((each) => typeof each === "string");
}

/** Of the shape that the specification gives to these members; others may be anything in later revisions. */
function isCapabilities(value: unknown): boolean {
  if (!isObject(value)) return false;
  return Object.entries(value).every(([name, member]) => {
    if (!isObject(member)) return false;
    if (name === "roots") return hasOnly(member, ["listChanged"]) && isFlag(member.listChanged);
    if (name === "sampling") return hasOnly(member, ["tools", "context"]) && Object.values(member).every(isEmpty);
    if (name === "elicitation") return hasOnly(member, ["form", "url"]) && Object.values(member).every(isEmpty);
    if (name === "tasks") return Object.values(member).every(isTree);
    return (name === "experimental" || name === "extensions") && Object.entries(member).every(isExtension);
  });
}

const isExtension = ([name, value]: [string, unknown]): boolean => /^[a-z][\w./-]*$/i.test(name) && isObject(value);
const isFlag = (value: unknown): boolean => value === undefined || typeof value === "boolean";
const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;

/** Objects alone, such as `{ "sampling": { "createMessage": {} } }`. */
const isTree = (value: unknown): boolean => isObject(value) && Object.values(value).every(isTree);

const hasOnly = (value: JsonObject, names: readonly string[]): boolean =>
  Object.keys(value).every((name) => names.includes(name));

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
