// Frames and handshakes that were changed at random. `pnpm fuzz --runs N packages/relay/test/fuzz` runs as many as wanted.
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import {
  createIdentity,
  decodeFrame,
  encodeFrame,
  type FrameBody,
  InitiatorHandshake,
  loadMlKem,
  ResponderHandshake,
  readFrameHead,
} from "../../src/index.js";
import { MessageAssembler } from "../../src/records/message-assembler.js";
import { RecordOrder } from "../../src/records/record-order.js";
import { StreamViolation } from "../../src/records/violation.js";
import { createRandom } from "../random.js";

const RUNS = Number(process.env.FUZZ_RUNS ?? "5000");
const SEED = Number(process.env.FUZZ_SEED ?? "1");
/** A handshake takes as long as some hundred frames. */
const HANDSHAKES = Math.ceil(RUNS / 100);

/** Long runs let the test runner send its messages now and then. */
const pauseAt = (run: number): Promise<void> | undefined => (run % 1_000 === 0 ? setImmediate() : undefined);

type Random = () => number;
const upTo = (random: Random, count: number): number => Math.floor(random() * count);
const bytesOf = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => upTo(random, 256)));

function randomBody(random: Random): FrameBody {
  const payload = bytesOf(random, upTo(random, 40));
  const bodies: FrameBody[] = [
    { kind: "data", seq: upTo(random, 2 ** 32), payload },
    { kind: "handshake", payload },
    { kind: "ack", counter: upTo(random, 300), payload },
    { kind: "reset", reason: "reason é".slice(0, upTo(random, 9)) },
    { kind: "resume", nextSeq: upTo(random, 3) },
    { kind: "heartbeat" },
  ];
  return bodies[upTo(random, bodies.length)]!;
}

/** Bits flipped, bytes left out, repeated, replaced or put in between. */
function mutate(random: Random, bytes: Buffer): Buffer {
  let changed = Buffer.from(bytes);
  for (let count = upTo(random, 4); count >= 0; count -= 1) {
    const at = upTo(random, changed.length + 1);
    const rest = changed.subarray(at + upTo(random, 5));
    const kind = upTo(random, 4);
    if (kind === 0 && at < changed.length) changed[at] = changed[at]! ^ (1 << upTo(random, 8));
    else if (kind === 1) changed = Buffer.concat([changed.subarray(0, at), rest]);
    else if (kind === 2) changed = Buffer.concat([changed.subarray(0, at), bytesOf(random, upTo(random, 6)), rest]);
    else changed = Buffer.concat([changed.subarray(0, at), changed.subarray(upTo(random, at + 1))]);
  }
  return changed;
}

it(`frames that were changed are read alike by all, or by nobody (seed ${SEED}, ${RUNS} runs)`, async () => {
  const random = createRandom(SEED);
  let accepted = 0;
  for (let run = 0; run < RUNS; run += 1) {
    await pauseAt(run);
    const valid = encodeFrame({ streamId: "s".repeat(1 + upTo(random, 40)), body: randomBody(random) });
    const bytes = random() < 0.1 ? bytesOf(random, upTo(random, 60)) : mutate(random, valid);
    const decoded = decodeFrame(bytes);
    const head = readFrameHead(bytes);
    if (!decoded.ok) continue;
    accepted += 1;
    const { streamId, body } = decoded.frame;
    if (head?.streamId !== streamId || head.kind !== body.kind)
      expect({ run, head }).toEqual({ streamId, kind: body.kind });
    const encoded = encodeFrame(decoded.frame);
    const again = decodeFrame(encoded);
    if (!again.ok || !encodeFrame(again.frame).equals(encoded)) expect({ run, again }).toEqual(decoded);
  }
  expect(accepted).toBeGreaterThan(0);
});

it(`a handshake that was changed is refused (seed ${SEED}, ${HANDSHAKES} runs)`, async () => {
  const random = createRandom(SEED);
  const mlKem = await loadMlKem();
  const identity = createIdentity(mlKem);
  const context = { environmentId: "e", registrationId: "r", streamId: "s" };
  const start = () =>
    new InitiatorHandshake({ context, identity: createIdentity(mlKem), mlKem, responder: identity.publicKey });
  for (let run = 0; run < HANDSHAKES; run += 1) {
    await pauseAt(run);
    const initiator = start();
    const first = initiator.start(Buffer.from("payload"));
    const responder = new ResponderHandshake({ context, identity, mlKem });
    const changed = mutate(random, first);
    if (!changed.equals(first)) {
      expect(() => new ResponderHandshake({ context, identity, mlKem }).receive(changed), `run ${run}`).toThrow();
    }
    responder.receive(first);
    const { message } = responder.respond();
    const answer = mutate(random, message);
    if (!answer.equals(message)) expect(() => initiator.finish(answer), `run ${run}`).toThrow();
  }
});

it(`records in any order come out in theirs, or not at all (seed ${SEED})`, async () => {
  const random = createRandom(SEED);
  for (let run = 0; run < RUNS / 50; run += 1) {
    await pauseAt(run);
    const order = new RecordOrder();
    let next = 0;
    try {
      for (let step = 0; step < 200; step += 1) {
        const seq = Math.max(0, next + upTo(random, 70) - 4);
        for (const given of order.accept(seq, Buffer.alloc(upTo(random, 30_000)))) {
          if (given.seq !== next) expect({ run, given: given.seq }).toEqual({ run, given: next });
          next += 1;
        }
      }
    } catch (error) {
      expect(error).toBeInstanceOf(StreamViolation);
    }
  }
});

it(`messages cut anywhere come out whole (seed ${SEED})`, async () => {
  const random = createRandom(SEED);
  for (let run = 0; run < RUNS / 50; run += 1) {
    await pauseAt(run);
    const assembler = new MessageAssembler(1_000);
    const lengths = Array.from({ length: 20 }, () => 1 + upTo(random, 1_000));
    let bytes = Buffer.concat(
      lengths.map((length) => {
        const message = Buffer.alloc(4 + length, length & 0xff);
        message.writeUInt32BE(length);
        return message;
      }),
    );
    const found: number[] = [];
    while (bytes.length > 0) {
      const count = 1 + upTo(random, 700);
      for (const message of assembler.push(bytes.subarray(0, count))) found.push(message.length);
      bytes = bytes.subarray(count);
    }
    expect(found).toEqual(lengths);
  }
});
