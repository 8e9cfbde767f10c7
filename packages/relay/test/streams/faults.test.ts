// What a rendezvous may do to frames, against both of our own ends: nothing is lost, repeated or changed.
import type { Channel } from "@codex/channel";
import { afterEach, describe, expect, it } from "vitest";
import { readFrameHead } from "../../src/index.js";
import { type Relayed, startRelayed } from "../pair.js";
import { createRandom } from "../random.js";

const open: Relayed[] = [];
afterEach(async () => {
  for (const relayed of open.splice(0)) await relayed.close();
});

const COUNT = 150;

const messageOf = (n: number, random: () => number) => ({ n, fill: "f".repeat(Math.floor(random() ** 4 * 150_000)) });

/** Sends as fast as it may, while the other side receives: everything comes once, in order. */
async function exchange(left: Channel, right: Channel, random: () => number): Promise<void> {
  const send = async (channel: Channel) => {
    for (let n = 0; n < COUNT; n += 1) await channel.send(messageOf(n, random));
  };
  const receive = async (channel: Channel) => {
    for (let n = 0; n < COUNT; n += 1) {
      const received = await channel.receive();
      expect(received, `message ${n}`).toMatchObject({ kind: "value", value: { n } });
    }
  };
  await Promise.all([send(left), send(right), receive(left), receive(right)]);
}

async function start(random: () => number) {
  const relayed = await startRelayed();
  open.push(relayed);
  const { harness, accepted } = await relayed.open();
  const executor = await accepted;
  // The answer to the first message comes behind the one to the offer.
  await harness.send("ready");
  await executor.receive();
  await executor.send("ready");
  await harness.receive();
  const { rendezvous } = relayed;
  const isOfStream = (frame: Buffer) => ["data", "ack"].includes(readFrameHead(frame)?.kind ?? "");
  return { harness, executor, rendezvous, isOfStream, random };
}

describe.each([1, 2, 3])("seed %i", (seed) => {
  const random = createRandom(seed);

  it("frames are dropped, doubled and delayed", async () => {
    const { harness, executor, rendezvous, isOfStream } = await start(random);
    let late: Buffer | undefined;
    rendezvous.meddle = (frame, from) => {
      const chance = random();
      if (!isOfStream(frame)) return [frame];
      if (chance < 0.04) return [];
      if (chance < 0.08) return [frame, frame];
      if (chance < 0.12 && late === undefined && from === "harness") {
        late = frame;
        return [];
      }
      if (late === undefined || from !== "harness") return [frame];
      const held = late;
      late = undefined;
      return [frame, held];
    };
    await exchange(harness, executor, random);
  });

  it("sockets of either side are cut", async () => {
    const { harness, executor, rendezvous, isOfStream } = await start(random);
    let frames = 0;
    let cuts = 0;
    rendezvous.meddle = (frame) => {
      if (isOfStream(frame)) frames += 1;
      if (frames > 40 && cuts < 4) {
        frames = 0;
        cuts += 1;
        rendezvous.cut(random() < 0.25 ? "executor" : "harness");
      }
      return [frame];
    };
    await exchange(harness, executor, random);
    expect(cuts).toBeGreaterThan(1);
  });

  it("bits are changed, and frames cut short or replayed", async () => {
    const { harness, executor, rendezvous, isOfStream } = await start(random);
    const former: Buffer[] = [];
    let faults = 0;
    rendezvous.meddle = (frame) => {
      if (!isOfStream(frame)) return [frame];
      if (former.length < 20) former.push(frame);
      if (random() > 0.03 || faults >= 6) return [frame];
      faults += 1;
      const changed = Buffer.from(frame);
      const at = changed.length - 1 - Math.floor(random() * Math.min(100, changed.length - 60));
      changed[at] = changed[at]! ^ (1 << Math.floor(random() * 8));
      if (random() < 0.4) return [changed];
      if (random() < 0.5) return [frame.subarray(0, -3)];
      return [frame, ...former];
    };
    await exchange(harness, executor, random);
    expect(faults).toBeGreaterThan(0);
  });
});
