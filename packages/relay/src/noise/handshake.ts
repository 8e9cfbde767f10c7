import { createIdentity, type NoiseIdentity, type NoisePublicKey } from "./keys.js";
import { ML_KEM, type MlKem } from "./ml-kem.js";
import { RESUMPTION_ID_BYTES, type Resumption } from "./resumption-secret.js";
import { SymmetricState } from "./symmetric-state.js";
import { X25519_BYTES } from "./x25519.js";

/** Length of message 1 without a payload. */
export const SHORTEST_HANDSHAKE_BYTES = 3_568;

/** What both ends must agree upon, or the handshake fails. */
export interface HandshakeContext {
  environmentId: string;
  /** `executor_registration_id` of the registry. */
  registrationId: string;
  streamId: string;
}

/** What a handshake needs. */
export interface HandshakeOptions {
  context: HandshakeContext;
  /** The long-lived keys of this end. */
  identity: NoiseIdentity;
  mlKem: MlKem;
  /** Default: new keys. For tests. */
  ephemeral?: NoiseIdentity;
  /** For tests. */
  protocolName?: string;
}

/** What both ends have after a handshake. */
export interface NoiseSession {
  /** Hash of everything that was exchanged: the same at both ends, and unique to the session. */
  handshakeHash: Buffer;
  keys: SessionKeys;
  /** For the handshakes with which its stream is resumed. */
  resumption: Resumption;
}

/** AES keys of each direction: for records, and for our own control messages. */
export interface SessionKeys {
  sent: Buffer;
  received: Buffer;
  sentControl: Buffer;
  receivedControl: Buffer;
}

/** The harness's end of a handshake; the executor's key is given. */
export class InitiatorHandshake {
  readonly #identity: NoiseIdentity;
  readonly #ephemeral: NoiseIdentity;
  readonly #mlKem: MlKem;
  readonly #responder: NoisePublicKey;
  readonly #state: SymmetricState;

  constructor(options: HandshakeOptions & { responder: NoisePublicKey }) {
    this.#identity = options.identity;
    this.#mlKem = options.mlKem;
    this.#ephemeral = options.ephemeral ?? createIdentity(options.mlKem);
    this.#responder = options.responder;
    this.#state = startState(options, options.responder);
  }

  /** Transcript hash so far. */
  get hash(): Buffer {
    return this.#state.hash;
  }

  /** Message 1: skem, e, es, s, ss. Call once. */
  start(payload: Uint8Array): Buffer {
    const state = this.#state;
    const { ciphertext, secret } = this.#mlKem.encapsulate(this.#responder.mlkem768);
    const parts = [state.encryptAndHash(ciphertext)];
    state.mixKeyAndHash(secret);
    parts.push(...mixEphemeral(state, this.#ephemeral.publicKey));
    state.mixKey(this.#ephemeral.x25519.agree(this.#responder.x25519));
    const { x25519, mlkem768 } = this.#identity.publicKey;
    parts.push(state.encryptAndHash(x25519), state.encryptAndHash(mlkem768));
    state.mixKey(this.#identity.x25519.agree(this.#responder.x25519));
    parts.push(state.encryptAndHash(payload));
    return Buffer.concat(parts);
  }

  /** Message 2: ekem, skem, e, ee, se. @throws Error for one that the responder did not create for this message 1 */
  finish(message: Uint8Array): NoiseSession {
    const state = this.#state;
    const reader = new Reader(message);
    const clear = reader.take(ML_KEM.ciphertext);
    state.mixHash(clear);
    state.mixKey(this.#ephemeral.mlkem768.decapsulate(clear));
    const sealed = state.decryptAndHash(reader.take(ML_KEM.ciphertext + state.overhead));
    state.mixKeyAndHash(this.#identity.mlkem768.decapsulate(sealed));
    const { x25519 } = readEphemeral(state, reader);
    state.mixKey(this.#ephemeral.x25519.agree(x25519));
    state.mixKey(this.#identity.x25519.agree(x25519));
    // Only a later version would have a payload.
    state.decryptAndHash(reader.rest());
    const [sent, received, sentControl, receivedControl, ...rest] = splitKeys(state);
    const keys = { sent, received, sentControl, receivedControl };
    return { handshakeHash: state.hash, keys, resumption: createResumption(rest) };
  }
}

/** The executor's end of a handshake: receives the harness's key, which the registry then validates. */
export class ResponderHandshake {
  readonly #identity: NoiseIdentity;
  readonly #mlKem: MlKem;
  readonly #state: SymmetricState;
  readonly #options: HandshakeOptions;
  #initiator: NoisePublicKey | undefined;
  #ephemeral: NoisePublicKey | undefined;

  constructor(options: HandshakeOptions) {
    this.#options = options;
    this.#identity = options.identity;
    this.#mlKem = options.mlKem;
    this.#state = startState(options, options.identity.publicKey);
  }

  /** Transcript hash so far. */
  get hash(): Buffer {
    return this.#state.hash;
  }

  /** Reads message 1. Call once. @throws Error for one that was not created for this context and key, or was modified */
  receive(message: Uint8Array): { initiator: NoisePublicKey; payload: Uint8Array } {
    const state = this.#state;
    const reader = new Reader(message);
    const ciphertext = state.decryptAndHash(reader.take(ML_KEM.ciphertext + state.overhead));
    state.mixKeyAndHash(this.#identity.mlkem768.decapsulate(ciphertext));
    this.#ephemeral = readEphemeral(state, reader);
    state.mixKey(this.#identity.x25519.agree(this.#ephemeral.x25519));
    const x25519 = state.decryptAndHash(reader.take(X25519_BYTES + state.overhead));
    const mlkem768 = state.decryptAndHash(reader.take(ML_KEM.publicKey + state.overhead));
    this.#initiator = { x25519, mlkem768 };
    state.mixKey(this.#identity.x25519.agree(x25519));
    return { initiator: this.#initiator, payload: state.decryptAndHash(reader.rest()) };
  }

  /** Creates message 2. Call once, after `receive`. */
  respond(): { message: Buffer; session: NoiseSession } {
    if (this.#initiator === undefined || this.#ephemeral === undefined) throw new Error("nothing was received yet");
    const state = this.#state;
    const toEphemeral = this.#mlKem.encapsulate(this.#ephemeral.mlkem768);
    state.mixHash(toEphemeral.ciphertext);
    state.mixKey(toEphemeral.secret);
    const toStatic = this.#mlKem.encapsulate(this.#initiator.mlkem768);
    const parts = [toEphemeral.ciphertext, state.encryptAndHash(toStatic.ciphertext)];
    state.mixKeyAndHash(toStatic.secret);
    const own = this.#options.ephemeral ?? createIdentity(this.#mlKem);
    parts.push(...mixEphemeral(state, own.publicKey));
    state.mixKey(own.x25519.agree(this.#ephemeral.x25519));
    state.mixKey(own.x25519.agree(this.#initiator.x25519));
    parts.push(state.encryptAndHash(new Uint8Array(0)));
    const [received, sent, receivedControl, sentControl, ...rest] = splitKeys(state);
    const keys = { sent, received, sentControl, receivedControl };
    const session = { handshakeHash: state.hash, keys, resumption: createResumption(rest) };
    return { message: Buffer.concat(parts), session };
  }
}

/** Has `25519` where the name of the key suite has `X25519`. */
const PROTOCOL_NAME = "Noise_hybridIK_25519+MLKEM768_AESGCM_SHA256";

const PROLOGUE_LABEL = "codex-exec-server-relay-noise/v1";

function startState({ context, protocolName = PROTOCOL_NAME }: HandshakeOptions, responder: NoisePublicKey) {
  const state = new SymmetricState(protocolName);
  const { environmentId, registrationId, streamId } = context;
  state.mixHash(Buffer.concat([PROLOGUE_LABEL, environmentId, registrationId, streamId].map(withLength)));
  state.mixHash(responder.x25519);
  state.mixHash(responder.mlkem768);
  return state;
}

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(bytes.length));
  return Buffer.concat([length, bytes]);
}

function mixEphemeral(state: SymmetricState, { x25519, mlkem768 }: NoisePublicKey): Uint8Array[] {
  state.mixHash(x25519);
  state.mixHash(mlkem768);
  return [x25519, mlkem768];
}

function readEphemeral(state: SymmetricState, reader: Reader): NoisePublicKey {
  const x25519 = reader.take(X25519_BYTES);
  const mlkem768 = reader.take(ML_KEM.publicKey);
  mixEphemeral(state, { x25519, mlkem768 });
  return { x25519, mlkem768 };
}

/** Keys from initiator to responder and back, for records, then for control messages; then the secret and id for resumption. */
function splitKeys(state: SymmetricState): [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer] {
  const [one, two, three, four, five, six] = state.split(6);
  return [one!, two!, three!, four!, five!, six!];
}

const createResumption = ([secret, id]: [Buffer, Buffer]): Resumption => ({
  secret,
  id: id.subarray(0, RESUMPTION_ID_BYTES),
});

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) {
      throw new Error(`a handshake message of ${this.#bytes.length} bytes is too short`);
    }
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  rest(): Uint8Array {
    return this.take(this.#bytes.length - this.#at);
  }
}
