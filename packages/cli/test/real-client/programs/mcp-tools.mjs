// The messages of a tiny MCP server: one tool that tells who runs it, and one that answers with many numbers.
const TOOLS = [
  { name: "whoami", description: "Names who started this server.", inputSchema: { type: "object", properties: {} } },
  {
    name: "count",
    description: "Counts up to a number.",
    inputSchema: { type: "object", properties: { to: { type: "number" } }, required: ["to"] },
  },
];

const call = ({ name, arguments: { to } = {} }) =>
  name === "whoami" ? `started by ${process.env.LOGNAME}` : Array.from({ length: to }, (_, index) => index).join(" ");

function resultOf({ method, params }) {
  switch (method) {
    case "initialize": {
      const { protocolVersion } = params;
      return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "tiny", version: "1.0.0" } };
    }
    case "tools/list":
      return { tools: TOOLS };
    case "tools/call":
      return { content: [{ type: "text", text: call(params) }] };
    default:
      return {};
  }
}

/** The answer to a request; undefined for a notification. */
export function respond(message) {
  return message.id === undefined ? undefined : { jsonrpc: "2.0", id: message.id, result: resultOf(message) };
}
