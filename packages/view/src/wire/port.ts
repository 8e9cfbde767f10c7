import type { Entity } from "./entities.js";
import type { Action, GapReason, Rights } from "./messages.js";

/** How the server is started. */
export interface ServerOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** Names by which pages may reach it besides loopback names, without the port. */
  readonly names: readonly string[];
  /** Directory of the files of the page. */
  readonly files: string;
  /** Viewers that a former server of this view had let in. */
  readonly admitted: readonly Admission[];
  readonly tokens: readonly Token[];
}

/** A token that can be used once; hashed with SHA-256, hex. */
export interface Token {
  readonly hash: string;
  readonly rights: Rights;
}

/** Somebody who has used a token; `hash` is that of the cookie. */
export interface Admission extends Token {
  readonly viewer: string;
}

/** Part of the output of a session: a frame with the bytes from `from` to `to`, or the reason why they are left out. */
export interface OutputPart {
  readonly from: number;
  readonly to: number;
  /** As pages receive it. Its memory belongs to the receiver. */
  readonly frame: Uint8Array<ArrayBuffer> | undefined;
  /** Only without a frame, and where `to` is behind `from`. */
  readonly gap: GapReason | undefined;
  /** The program writes just now. */
  readonly isBusy: boolean;
  /** There is nothing behind `to`. */
  readonly isComplete: boolean;
}

/** From the program to the server, which runs in a worker. */
export type ToServer =
  | { readonly type: "set"; readonly entities: readonly Entity[] }
  | { readonly type: "drop"; readonly keys: readonly string[] }
  | { readonly type: "token"; readonly token: Token }
  /** Answers the `read` with this number; undefined when there is no such session. */
  | { readonly type: "output"; readonly request: number; readonly part: OutputPart | undefined }
  /** A recording, as asciicast; undefined when there is none. */
  | { readonly type: "recording"; readonly request: number; readonly text: string | undefined }
  /** For one viewer. */
  | { readonly type: "notice"; readonly viewer: string; readonly text: string; readonly isProblem: boolean }
  | { readonly type: "close" };

/** From the server to the program. */
export type FromServer =
  | { readonly type: "listening"; readonly port: number }
  | { readonly type: "failed"; readonly message: string }
  | { readonly type: "admitted"; readonly admission: Admission; readonly tokenHash: string }
  | { readonly type: "token"; readonly token: Token }
  | { readonly type: "viewers"; readonly count: number }
  /** Asks for output from a byte on; waits where there is none yet. */
  | { readonly type: "read"; readonly request: number; readonly session: number; readonly from: number }
  | { readonly type: "cancel"; readonly request: number }
  | { readonly type: "recording"; readonly request: number; readonly session: number }
  | { readonly type: "action"; readonly viewer: string; readonly action: Action }
  | { readonly type: "closed" };
