import { keepServing, SocketError } from "@codex/relay";
import {
  DEFAULT_RENDEZVOUS_LIMITS,
  type ExecutorLink,
  Rate,
  type Registration,
  Registrations,
} from "@codex/rendezvous";
import { createRandom, type Random } from "../random.js";
import { SimulatedClock } from "./simulated-clock.js";

/** What happens to the nodes. */
type Outage = (typeof OUTAGES)[number];

export const OUTAGES = [
  /** One node dies, and stays away. */
  "node",
  /** All nodes die, and are back after 30 s. */
  "all",
  /** The same, and all registrations are lost. */
  "all-forgotten",
  /** The nodes are restarted one after the other, each for 10 s. */
  "rolling",
] as const;

/** Options of a simulation. */
export interface SimulationOptions {
  executors: number;
  nodes: number;
  outage: Outage;
  seed: number;
}

/** The result of a simulation. Times are milliseconds after the outage has begun; of `rolling`, measured after the last restart. */
export interface SimulationResult {
  lost: number;
  /** When half, 99 % and all of those that lost their connection were connected again; undefined if that did not happen. */
  half: number | undefined;
  most: number | undefined;
  all: number | undefined;
  /** Maximum number of dials within a second that reached a node, and that were accepted, over all nodes. */
  peakDials: number;
  peakAccepted: number;
  /** Maximum number of dials within a second that found no node. */
  peakRefused: number;
  registrations: number;
  expired: number;
}

const { leaseMs, dialsPerSecond, pingMs } = DEFAULT_RENDEZVOUS_LIMITS;

/** Moment of the outage: every executor has been connected and pinged by then. */
const OUTAGE_AT = 200_000;
const DURATION_MS = 300_000;

interface Node {
  isUp: boolean;
  /** A function for each connection that ends it; its executor is to return within `spreadMs` milliseconds. */
  connections: Set<(spreadMs: number) => void>;
  /** As in `Entrances`. */
  dials: Rate;
}

/**
 * Executors and nodes in simulated time. The loop of executors, their pauses, registrations, leases and the limit on dials are those
 * of production; network, nodes and load balancer are simulated.
 */
export async function simulate({
  executors,
  nodes: count,
  outage,
  seed,
}: SimulationOptions): Promise<SimulationResult> {
  const random = createRandom(seed, outage);
  const clock = new SimulatedClock();
  const wallClock = () => clock.now();
  const nodes: Node[] = Array.from({ length: count }, () => ({
    isUp: true,
    connections: new Set(),
    dials: new Rate(2 * dialsPerSecond, 2 * dialsPerSecond, wallClock),
  }));
  const create = () => new Registrations({ clock, wallClock, leaseMs, max: 2 * executors, onReplaced: () => {} });
  const world: World = {
    clock,
    random,
    nodes,
    registrations: create(),
    peaks: new Peaks(clock),
    connected: 0,
    registered: 0,
  };
  // One each: removing one of 100,000 listeners of a shared signal takes as long as there are listeners.
  const aborts = Array.from({ length: executors }, () => new AbortController());
  // Start-up is spread over three minutes, as for hosts that are not all switched on at the same time.
  aborts.forEach(({ signal }, n) => {
    clock.after(random.next() * 180_000, () => void runExecutor(n, world, signal));
  });
  await clock.runUntil(OUTAGE_AT);
  if (world.connected !== executors) throw new Error(`only ${world.connected} of ${executors} executors connected`);
  world.peaks = new Peaks(clock);
  const before = world.registered;
  const stop = (node: Node) => {
    node.isUp = false;
    // As sent with its last pings.
    const spreadMs = spreadOf(node.connections.size);
    for (const end of [...node.connections]) end(spreadMs);
  };
  const begin = (node: Node) => {
    node.isUp = true;
  };
  let lost = 0;
  const lose = (node: Node) => {
    lost += node.connections.size;
    stop(node);
  };
  if (outage === "node") lose(nodes[0]!);
  else if (outage === "rolling") {
    nodes.forEach((node, n) => {
      clock.after(1 + n * 60_000, () => lose(node));
      clock.after(10_001 + n * 60_000, () => begin(node));
    });
  } else {
    for (const node of nodes) lose(node);
    if (outage === "all-forgotten") world.registrations = create();
    clock.after(30_000, () => nodes.forEach(begin));
  }
  const result: SimulationResult = {
    lost,
    half: undefined,
    most: undefined,
    all: undefined,
    peakDials: 0,
    peakAccepted: 0,
    peakRefused: 0,
    registrations: 0,
    expired: 0,
  };
  const first = world.connected;
  for (let ms = 100; ms <= DURATION_MS; ms += 100) {
    await clock.runUntil(OUTAGE_AT + ms);
    const share = outage === "rolling" ? world.connected / executors : (world.connected - first) / (executors - first);
    if (outage === "rolling" && ms < count * 60_000) continue;
    if (share >= 0.5) result.half ??= ms;
    if (share >= 0.99) result.most ??= ms;
    if (share >= 1) result.all ??= ms;
  }
  for (const abort of aborts) abort.abort();
  const { reached, accepted, refused } = world.peaks;
  return {
    ...result,
    lost,
    peakDials: peakOf(reached),
    peakAccepted: peakOf(accepted),
    peakRefused: peakOf(refused),
    registrations: world.registered - before,
    expired: executors - world.registrations.size,
  };
}

interface World {
  clock: SimulatedClock;
  random: Random;
  nodes: Node[];
  registrations: Registrations;
  peaks: Peaks;
  connected: number;
  registered: number;
}

/** Dials by second. */
class Peaks {
  readonly reached = new Map<number, number>();
  readonly accepted = new Map<number, number>();
  readonly refused = new Map<number, number>();
  readonly #clock: SimulatedClock;

  constructor(clock: SimulatedClock) {
    this.#clock = clock;
  }

  count(kind: "reached" | "accepted" | "refused"): void {
    const second = Math.floor(this.#clock.now() / 1000);
    this[kind].set(second, (this[kind].get(second) ?? 0) + 1);
  }
}

const peakOf = (counts: ReadonlyMap<number, number>): number => Math.max(0, ...counts.values());

/** An executor as `serveExecutorRelay` runs it. */
async function runExecutor(n: number, world: World, signal: AbortSignal): Promise<void> {
  const { clock, random } = world;
  let registration: Registration | undefined;
  const travel = () => new Promise<void>((resolve) => clock.after(5 + random.next() * 75, resolve));
  const reach = async (): Promise<Node> => {
    await travel();
    const up = world.nodes.filter(({ isUp }) => isUp);
    if (up.length === 0) {
      world.peaks.count("refused");
      throw new SocketError("connection refused");
    }
    return random.pick(up);
  };
  const register = async (): Promise<Registration> => {
    await reach();
    const made: Registration = {
      id: `${n}.${world.registered++}`,
      environmentId: `env-${n}`,
      member: "",
      transport: "noise",
      key: undefined,
      expiresAt: undefined,
      registeredAt: clock.now(),
      name: "",
      version: "",
      labels: {},
    };
    world.registrations.add(made);
    await travel();
    return made;
  };
  await keepServing({
    clock,
    random: () => random.next(),
    signal,
    onRefused: () => {
      registration = undefined;
    },
    async serveOnce(onConnected) {
      registration ??= await register();
      const known = registration;
      const node = await reach();
      world.peaks.count("reached");
      if (!node.dials.take()) throw new SocketError("HTTP 503", 503, 5_000);
      const { registrations } = world;
      if (registrations.find(known.environmentId, known.id) === undefined) throw new SocketError("HTTP 409", 409);
      world.peaks.count("accepted");
      return new Promise((resolve) => {
        const connectedAt = clock.now();
        const firstSpreadMs = spreadOf(node.connections.size + 1);
        let isOver = false;
        const end = (spread = 0) => {
          if (isOver) return;
          isOver = true;
          // As received with the first ping, until the next one.
          const spreadMs = clock.now() - connectedAt < pingMs ? firstSpreadMs : spread;
          node.connections.delete(end);
          world.connected -= 1;
          if (registrations === world.registrations) registrations.detach(known, link);
          resolve({ reason: "lost", spreadMs });
        };
        const link: ExecutorLink = { load: 0, findTicketId: () => undefined, close: () => end() };
        node.connections.add(end);
        world.connected += 1;
        registrations.attach(known, link);
        onConnected();
      });
    },
  });
}

/** The spread that a node sends with its pings and an executor applies, milliseconds. */
const spreadOf = (executors: number): number => Math.min(Math.ceil((executors / dialsPerSecond) * 1000), 30_000);

/**
 * The bounds on storms: no more than 4,000 dials per second and node that is up, whether accepted or not; every executor has returned; none has to register
 * again where registrations are known, and no lease expires. Empty if all hold.
 */
export function findProblems({ nodes, outage }: SimulationOptions, result: SimulationResult): string[] {
  const problems: string[] = [];
  const expect = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem);
  };
  const up = outage === "node" || outage === "rolling" ? Math.max(1, nodes - 1) : nodes;
  expect(result.peakDials <= 4 * dialsPerSecond * up, `${result.peakDials} dials reached nodes within a second`);
  expect(result.all !== undefined, "not all executors were connected again");
  expect(result.expired === 0, `${result.expired} registrations have expired`);
  expect(
    outage === "all-forgotten" || result.registrations === 0,
    `${result.registrations} executors registered again`,
  );
  return problems;
}
