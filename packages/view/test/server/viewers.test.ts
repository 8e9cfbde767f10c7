import { expect, it } from "vitest";
import { MAX_RECORDINGS, MAX_TOKENS } from "../../src/limits.js";
import { connect } from "../support/client.js";
import { enter, send } from "../support/http.js";
import { openView, startSession } from "../support/orchestrators.js";

const VIEWERS = 200;
const BYTES = 4_000_000;

/** Bytes of the session that this page was sent, once it is as many as there are. */
function receiveAll(page: Awaited<ReturnType<typeof connect>>, session: string): Promise<number> {
  return new Promise((resolve) => {
    let end = 0;
    page.socket.on("message", (data: Buffer, isBinary) => {
      if (!isBinary) return;
      end = Number(data.readBigUInt64BE(4)) + data.length - 12;
      page.say({ type: "ack", session: Number(session), offset: end });
      if (end >= BYTES) resolve(end);
    });
    page.say({ type: "open", session: Number(session), from: 0 });
  });
}

it(`shows a session to ${VIEWERS} viewers at once`, async () => {
  const { orchestrator, view } = await openView();
  await startSession(orchestrator, { cmd: "echo hello; exec cat", stdin: "open" });
  const pages = await Promise.all(Array.from({ length: VIEWERS }, () => connect(view.createLink("read"))));
  await expect.poll(() => view.viewers).toBe(VIEWERS);
  const outputs = pages.map(async (page) => {
    const { id } = await page.find(({ kind }) => kind === "session");
    return new Promise<string>((resolve) => {
      page.socket.on("message", (data: Buffer, isBinary) => isBinary && resolve(data.subarray(12).toString()));
      page.say({ type: "open", session: Number(id), from: 0 });
    });
  });
  expect(new Set(await Promise.all(outputs))).toEqual(new Set(["hello\n"]));
});

it("neither a viewer that acknowledges nothing nor one that stops reading holds up the program or another viewer", async () => {
  const { orchestrator, view } = await openView();
  const cmd = `read go; head -c ${BYTES} /dev/zero | tr '\\0' x; echo written >&2; exec cat`;
  const session = await startSession(orchestrator, { cmd, stdin: "open" });
  const [silent, stuck, reader] = [
    await connect(view.createLink("read")),
    await connect(view.createLink("read")),
    await connect(view.createLink("read")),
  ];
  const { id } = await reader.find(({ kind }) => kind === "session");
  let unacknowledged = 0;
  silent.socket.on("message", (data: Buffer, isBinary) => {
    if (isBinary) unacknowledged += data.length - 12;
  });
  for (const page of [silent, stuck]) page.say({ type: "open", session: Number(id), from: 0 });
  stuck.socket.pause();
  const received = receiveAll(reader, id);
  await orchestrator.callTool("write_stdin", { session_id: session, chars: "go\n" });
  expect(await received).toBeGreaterThanOrEqual(BYTES);
  // Its window, and at most one part beyond it.
  expect(unacknowledged).toBeLessThanOrEqual(1024 * 1024 + 256 * 1024);
});

it("closes a connection that sends something else than messages of the page, and no other", async () => {
  const { view } = await openView();
  const [bad, good] = [await connect(view.url), await connect(view.readOnlyUrl)];
  const closed = new Promise<number>((resolve) => bad.socket.once("close", resolve));
  bad.socket.send("{not json");
  expect(await closed).toBe(1008);
  expect(good.socket.readyState).toBe(good.socket.OPEN);
});

it("takes no answer, no input and no stop from a link for reading", async () => {
  const { orchestrator, view } = await openView();
  const session = await startSession(orchestrator, { cmd: "cat", stdin: "open" });
  const page = await connect(view.readOnlyUrl);
  const { id } = await page.find(({ kind }) => kind === "session");
  const notices: string[] = [];
  const told = new Promise<void>((resolve) => {
    page.socket.on("message", (data, isBinary) => {
      const message = isBinary ? {} : (JSON.parse(String(data)) as { type?: string; text?: string });
      if (message.type !== "notice") return;
      notices.push(message.text ?? "");
      if (notices.length === 4) resolve();
    });
  });
  page.say({ type: "input", session: Number(id), text: "typed\n" });
  page.say({ type: "answer", question: "x", decision: "accept" });
  page.say({ type: "stop" });
  page.say({ type: "link", rights: "answer" });
  await told;
  expect(new Set(notices)).toEqual(new Set(["This link is read-only."]));
  const { text } = await orchestrator.callTool("read_output", { session_id: session });
  expect(text).not.toContain("typed");
});

it("lets a link for reading take nothing from others: no links, no memory for recordings", async () => {
  const { orchestrator, view } = await openView();
  await startSession(orchestrator, { cmd: "head -c 1000000 /dev/zero; exec cat", stdin: "open" });
  const reader = await connect(view.readOnlyUrl);
  const { id } = await reader.find(({ kind }) => kind === "session");
  const made = new Promise<void>((resolve) => {
    let links = 0;
    reader.socket.on("message", (data, isBinary) => {
      if (!isBinary && String(data).startsWith('{"type":"link"')) links += 1;
      if (links > MAX_TOKENS) resolve();
    });
  });
  for (let at = 0; at <= MAX_TOKENS; at += 1) reader.say({ type: "link", rights: "read" });
  await made;
  const { base, bearer } = await enter(view.url);
  const asked = Array.from({ length: MAX_RECORDINGS + 1 }, () => send(`${base}/recording/${id}`, { headers: bearer }));
  const statuses = (await Promise.all(asked)).map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(MAX_RECORDINGS).fill(200), 503]);
  await expect.poll(async () => (await send(`${base}/recording/${id}`, { headers: bearer })).status).toBe(200);
});
