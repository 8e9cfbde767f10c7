import { randomBytes } from "node:crypto";
import type { RendezvousLimits } from "../limits.js";
import type { Registration, Registrations } from "./registrations.js";
import { createStickiness } from "./stickiness.js";

/** A request from one node to the node to which an executor is connected. */
export interface NodeRequest {
  kind: "connect" | "validate";
  environmentId: string;
  /** For `connect`: registration of the executor. */
  registrationId?: string | undefined;
  /** Body of the request, as it was sent. */
  body: string;
  /** When the requester's credential expires, milliseconds since 1970. */
  expiresAt?: number | undefined;
  streamId?: string | undefined;
}

/** The interface of this node to the others. */
export interface LocalNode {
  registrations: Registrations;
  limits: RendezvousLimits;
  /** Handles a request of another node. @throws Refusal */
  answer(request: NodeRequest): object;
}

/** The other nodes of a rendezvous, as seen by one of them. */
export interface Cluster {
  /** Id of this node; empty if there is only one. */
  readonly nodeId: string;
  /** Key of the tickets of all nodes. */
  readonly ticketKey: Uint8Array;
  /** Whether updates from the other nodes are currently received. */
  readonly isConnected: boolean;
  /** Resolves when this node has the registrations of the others. @throws Error if they cannot be reached */
  join(node: LocalNode): Promise<void>;
  /** Resolves when a registration of this node is visible to the others, or after a time limit. Never rejects. */
  publish(registration: Pick<Registration, "environmentId" | "member">): Promise<void>;
  /** Reads the registration of a member, which another node may just have created. Never rejects. */
  refresh(environmentId: string, memberKey: string): Promise<void>;
  /** @throws Refusal of the other node, or `nodes_away`; NodeGone */
  ask(nodeId: string, request: NodeRequest): Promise<object>;
  /** The member to which a harness was sent last. Never rejects. */
  recall(harness: string): Promise<string | undefined>;
  remember(harness: string, member: string): void;
  /** Leaves the cluster. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** Another node did not respond. */
export class NodeGone extends Error {
  override readonly name = "NodeGone";

  constructor(
    message: string,
    /** Whether the node no longer listens; otherwise it may only be slow. */
    readonly isCertain: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A single node, with all state in memory. @param ticketKey default: a random one, so that no ticket survives a restart */
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
