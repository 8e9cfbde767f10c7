export { type CredentialKind, findDestinationProblem } from "./credentials/destination.js";
export { parseExecutorCredential } from "./credentials/executor-credential.js";
export {
  type CredentialChoice,
  type CredentialSources,
  type OpenedCredential,
  openCredential,
} from "./credentials/open-credential.js";
export { type AwsSigner, type SignedRequest, signRequest } from "./credentials/sigv4.js";
export { type DirectExecutorOptions, serveDirectExecutor } from "./executor/direct-executor.js";
export { type ExecutorRelay, type ExecutorRelayOptions, serveExecutorRelay } from "./executor/executor-relay.js";
export { type ForwardOptions, forwardStream } from "./executor/forward.js";
export { type EndedSocket, type KeepServingOptions, keepServing } from "./executor/keep-serving.js";
export type { StreamInfo } from "./executor/stream-table.js";
export { type DecodedFrame, decodeFrame, type FrameHead, readFrameHead } from "./frames/decode.js";
export { encodeFrame } from "./frames/encode.js";
export type { FrameBody, FrameKind, RelayFrame } from "./frames/frame.js";
export { type ClearChannelOptions, isClearRelayUrl, openClearChannel } from "./harness/clear-channel.js";
export { StreamRefusedError } from "./harness/harness-socket.js";
export { type NoiseChannelOptions, openNoiseChannel } from "./harness/noise-channel.js";
export { FIRST_CREDENTIAL_MS, MAX_AUTHORIZATION_BYTES, MAX_FRAME_BYTES, MAX_STREAM_ID_BYTES } from "./limits.js";
export {
  type HandshakeContext,
  type HandshakeOptions,
  InitiatorHandshake,
  type NoiseSession,
  ResponderHandshake,
  type SessionKeys,
} from "./noise/handshake.js";
export { openIdentityFile } from "./noise/identity-file.js";
export {
  createIdentity,
  encodePublicKey,
  fingerprintOf,
  KEY_SUITE,
  type NoiseIdentity,
  type NoisePublicKey,
  type NoiseSecrets,
  publicKeySchema,
} from "./noise/keys.js";
export { loadMlKem, type MlKem, type MlKemKeyPair } from "./noise/ml-kem.js";
export type { X25519KeyPair } from "./noise/x25519.js";
export { type ListedExecutor, listExecutors } from "./registry/list-executors.js";
export { parseRegistration, type RegistrationWords } from "./registry/registration-options.js";
export {
  type ExecutorDescription,
  isLoopbackHost,
  type Meeting,
  type Registration,
  type RegistryAddress,
  registerDirect,
  registerExecutor,
  registerLegacy,
  requestMeeting,
  validateHarness,
} from "./registry/registry.js";
export { RegistryError } from "./registry/registry-error.js";
export { SocketError } from "./socket/frame-socket.js";
