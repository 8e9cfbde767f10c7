import { randomBytes } from "node:crypto";
import type { RendezvousLimits } from "../limits.js";
import type { Registration, Registrations } from "./registrations.js";
import { createStickiness } from "./stickiness.js";

/** What one node asks of the node that holds the connection of an executor. */
export interface NodeRequest {
  kind: "connect" | "validate";
  environmentId: string;
  /** Of `connect`: to which executor. */
  registrationId?: string | undefined;
  /** Body of the request, as it was sent. */
  body: string;
  /** Milliseconds since 1970 at which the credential of the requester expires. */
  expiresAt?: number | undefined;
  streamId?: string | undefined;
}

/** What a node is for the others. */
export interface LocalNode {
  registrations: Registrations;
  limits: RendezvousLimits;
  /** Answers another node. @throws Refusal */
  answer(request: NodeRequest): object;
}

/** The nodes of one rendezvous, as one of them deals with the others. */
export interface Cluster {
  /** Id of this node; empty where there is only one. */
  readonly nodeId: string;
  /** Of the tickets of all nodes. */
  readonly ticketKey: Uint8Array;
  /** Whether what the other nodes do is known at present. */
  readonly isConnected: boolean;
  /** Resolves when this node knows what the others know. @throws Error where they cannot be reached */
  join(node: LocalNode): Promise<void>;
  /** Resolves when the other nodes can know a registration of this node, or that took too long. Never rejects. */
  publish(registration: Pick<Registration, "environmentId" | "member">): Promise<void>;
  /** Reads the registration of a member, which another node may have made a moment ago. Never rejects. */
  refresh(environmentId: string, memberKey: string): Promise<void>;
  /** @throws Refusal of the other node, or `nodes_away`; NodeGone */
  ask(nodeId: string, request: NodeRequest): Promise<object>;
  /** The member to which a harness was sent last. Never rejects. */
  recall(harness: string): Promise<string | undefined>;
  remember(harness: string, member: string): void;
  /** Leaves the others. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** Another node did not answer. */
export class NodeGone extends Error {
  override readonly name = "NodeGone";

  constructor(
    message: string,
    /** Nobody listens where the node did; otherwise it may only be slow. */
    readonly isCertain: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** One node alone, which keeps all in memory. @param ticketKey default: a random one, with which nothing survives a restart */
export function createSingleNode(
  { maxSticky, stickyMs }: Pick<RendezvousLimits, "maxSticky" | "stickyMs">,
  now: () => number,
  ticketKey: Uint8Array = randomBytes(32),
): Cluster {
  const sticky = createStickiness({ max: maxSticky, ms: stickyMs, now });
  return {
    nodeId: "",
    ticketKey,
    isConnected: true,
    join: async () => {},
    publish: async () => {},
    refresh: async () => {},
    ask: async () => {
      throw new NodeGone("there is no other node", true);
    },
    recall: async (harness) => sticky.recall(harness),
    remember: (harness, member) => sticky.remember(harness, member),
    close: async () => {},
  };
}
