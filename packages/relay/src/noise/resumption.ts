import type { HandshakeContext, NoiseSession } from "./handshake.js";
import type { NoisePublicKey } from "./keys.js";
import { RESUMPTION_ID_BYTES, type Resumption } from "./resumption-secret.js";
import { SymmetricState } from "./symmetric-state.js";
import { createX25519, X25519_BYTES, type X25519KeyPair } from "./x25519.js";

/**
 * Noise NNpsk0 with a key from an earlier hybrid handshake: only its two ends have the key, so that it authenticates both, and an attacker
 * without it learns nothing even if X25519 is broken. A tenth of the CPU time of a handshake with ML-KEM in JavaScript.
 */
const PROTOCOL_NAME = "Noise_NNpsk0_25519_AESGCM_SHA256";

const PROLOGUE_LABEL = "codex-relay-resumption/v1";

/** Options of a resumption handshake. */
export interface ResumptionOptions {
  context: HandshakeContext;
  resumption: Resumption;
}

/** The harness's end of a resumption handshake. */
export class ResumptionInitiator {
  readonly #options: ResumptionOptions;
  readonly #state: SymmetricState;
  readonly #ephemeral = createX25519();

  constructor(options: ResumptionOptions) {
    this.#options = options;
    this.#state = startState(options);
  }

  /** The id of the resumption in clear text, then message 1: psk, e, payload. Call once. */
  start(payload: Uint8Array): Buffer {
    const { id } = this.#options.resumption;
    mixPublicKey(this.#state, this.#ephemeral.publicKey);
    return Buffer.concat([id, this.#ephemeral.publicKey, this.#state.encryptAndHash(payload)]);
  }

  /** Message 2: e, ee. @throws Error for one that was not created for this message 1 by an end that has the secret */
  finish(message: Uint8Array): NoiseSession {
    agree(this.#state, this.#ephemeral, readPublicKey(this.#state, message, 0));
    this.#state.decryptAndHash(message.subarray(X25519_BYTES));
    const { resumption } = this.#options;
    const [sent, received, sentControl, receivedControl] = splitKeys(this.#state);
    return { handshakeHash: this.#state.hash, keys: { sent, received, sentControl, receivedControl }, resumption };
  }
}

/** The executor's end of a resumption handshake. */
export class ResumptionResponder {
  readonly #options: ResumptionOptions & { initiator: NoisePublicKey };
  readonly #state: SymmetricState;
  #ephemeral: Uint8Array | undefined;

  /** @param options with the key of the harness that the stream belongs to */
  constructor(options: ResumptionOptions & { initiator: NoisePublicKey }) {
    this.#options = options;
    this.#state = startState(options);
  }

  /** Reads message 1. Call once. @throws Error for one that was not created for this context by an end that has the secret */
  receive(message: Uint8Array): { initiator: NoisePublicKey; payload: Uint8Array } {
    this.#ephemeral = readPublicKey(this.#state, message, RESUMPTION_ID_BYTES);
    const payload = this.#state.decryptAndHash(message.subarray(RESUMPTION_ID_BYTES + X25519_BYTES));
    return { initiator: this.#options.initiator, payload };
  }

  /** Creates message 2. Call once, after `receive`. */
  respond(): { message: Buffer; session: NoiseSession } {
    if (this.#ephemeral === undefined) throw new Error("nothing was received yet");
    const state = this.#state;
    const own = createX25519();
    mixPublicKey(state, own.publicKey);
    agree(state, own, this.#ephemeral);
    const message = Buffer.concat([own.publicKey, state.encryptAndHash(new Uint8Array(0))]);
    const { resumption } = this.#options;
    const [received, sent, receivedControl, sentControl] = splitKeys(state);
    const keys = { sent, received, sentControl, receivedControl };
    return { message, session: { handshakeHash: state.hash, keys, resumption } };
  }
}

/** Prologue, then the token psk. */
function startState({ context, resumption }: ResumptionOptions): SymmetricState {
  const state = new SymmetricState(PROTOCOL_NAME);
  const { environmentId, registrationId, streamId } = context;
  const parts = [PROLOGUE_LABEL, environmentId, registrationId, streamId].map((text) => Buffer.from(text));
  state.mixHash(Buffer.concat([...parts, resumption.id].flatMap((part) => [lengthOf(part), part])));
  state.mixKeyAndHash(resumption.secret);
  return state;
}

function lengthOf(part: Buffer): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(part.length));
  return length;
}

/** Token e of a pattern with a pre-shared key: the public key is also mixed into the key. */
function mixPublicKey(state: SymmetricState, publicKey: Uint8Array): void {
  state.mixHash(publicKey);
  state.mixKey(publicKey);
}

function readPublicKey(state: SymmetricState, message: Uint8Array, at: number): Uint8Array {
  if (message.length < at + X25519_BYTES)
    throw new Error(`a resumption message of ${message.length} bytes is too short`);
  const publicKey = message.subarray(at, at + X25519_BYTES);
  mixPublicKey(state, publicKey);
  return publicKey;
}

const agree = (state: SymmetricState, own: X25519KeyPair, peer: Uint8Array): void => state.mixKey(own.agree(peer));

function splitKeys(state: SymmetricState): [Buffer, Buffer, Buffer, Buffer] {
  const [one, two, three, four] = state.split(4);
  return [one!, two!, three!, four!];
}
