import { readFileSync, writeFileSync } from "node:fs";
import { createEnvironmentInfo } from "@codex/exec-server";
import { describe, expect, it } from "vitest";
import { useHttp } from "../../exec-server/test/http/support.js";
import { useFiles } from "../../host-files/test/support.js";
import { decodeInitialize } from "../src/initialize.js";
import { decodeRead, decodeSignal, decodeStart, decodeWrite } from "../src/process.js";
import { handleRequest, type RequestTargets } from "./support.js";

interface Message {
  id?: number;
  method?: string;
  params?: unknown;
  result?: { entries?: { fileName: string }[] };
  error?: { code: number; message: string };
  $touch?: string;
}

interface Case {
  name: string;
  send: Message[];
  expect: Message[];
  mayDiffer?: string;
}

const recorded: Case[] = JSON.parse(
  readFileSync(new URL("../../../conformance/cases/exec-server.json", import.meta.url), "utf8"),
);

// The handshake is left out: requests go straight to their handlers.
describe("recorded from Codex 0.169.0", () => {
  const files = useFiles();
  const servers = useHttp();
  const cases = recorded.filter(({ name }) => /^(fs|http|environment)\./.test(name) && name !== COPY_ONTO_ITSELF);

  it("has every recorded case", () => {
    expect(cases).toHaveLength(19);
  });

  it.each(cases)("$name", async ({ send, expect: wanted }) => {
    const url = await servers.serve((_, response) => response.setHeader("x-multi", ["a", "b"]).end("hello"));
    const fill = (messages: readonly Message[]): Message[] =>
      JSON.parse(JSON.stringify(messages).replaceAll("$FIXTURE", files.root).replaceAll("$HTTP", url));
    const info = await createEnvironmentInfo({ executorVersion: "0.169.0" });
    const from: RequestTargets = { files: files.connection, http: servers.connect().http, host: { info } };
    const received: unknown[] = [];
    for (const { id = 0, method = "", params, $touch } of fill(send)) {
      if ($touch !== undefined) {
        const change = files.nextChange();
        writeFileSync($touch, "");
        received.push({ method: "fs/missingChanged", params: { watchId: await change } });
      } else if (method !== "" && !method.startsWith("initialize")) {
        received.push(await handleRequest(id, method, params, from));
      }
    }
    expect(received.map(normalize)).toEqual(fill(wanted.slice(1)).map(normalize));
  });
});

/** Codex empties the file; here it stays as it is. */
const COPY_ONTO_ITSELF = "fs.copy-file-onto-itself-truncates";

/** Removes what a recording does not fix: volatile values, directory order, the texts of errors. */
function normalize(message: unknown): Message {
  const text = JSON.stringify(message)
    .replace(/"modifiedAtMs":\d+/, '"modifiedAtMs":"<ms>"')
    .replace(/"name":"date","value":"[^"]*"/, '"name":"date","value":"<date>"');
  const normal: Message = JSON.parse(text);
  if (normal.error !== undefined) normal.error.message = "";
  normal.result?.entries?.sort((one, other) => (one.fileName < other.fileName ? -1 : 1));
  return normal;
}

describe("params that Codex 0.169.0 rejects", () => {
  const decoders: Record<string, (params: unknown) => unknown> = {
    initialize: decodeInitialize,
    "process/start": decodeStart,
    "process/read": decodeRead,
    "process/write": decodeWrite,
    "process/signal": decodeSignal,
  };
  const refused = recorded.flatMap(({ name, send, expect: wanted, mayDiffer }) => {
    const error = wanted.at(-1)?.error;
    const { method = "", params } = send.at(-1) ?? {};
    return error?.code === -32602 && mayDiffer === undefined && method in decoders
      ? [{ name, method, params, error }]
      : [];
  });

  it("has every recorded case", () => {
    expect(refused).toHaveLength(16);
  });

  it.each(refused)("$name", ({ method, params, error }) => {
    // The same text, followed by the name of the member.
    const message = expect.stringContaining(
      method === "process/signal" ? "unknown variant `kill`" : error.message.split(", expected usize")[0]!,
    );
    expect(() => decoders[method]!(params)).toThrow(expect.objectContaining({ code: -32602, message }));
  });
});
