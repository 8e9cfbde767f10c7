import type { Entity } from "./entities.js";
import type { Action, GapReason, Rights } from "./messages.js";

/** Options of the server. */
export interface ServerOptions {
  readonly host: string;
  /** 0 for a free one. */
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** Accepted host names in addition to loopback names, without the port. */
  readonly names: readonly string[];
  /** Directory with the files of the page. */
  readonly files: string;
  /** Viewers admitted by an earlier server of this view. */
  readonly admitted: readonly Admission[];
  readonly tokens: readonly Token[];
}

/** A token that is valid once, as SHA-256, hex. */
export interface Token {
  readonly hash: string;
  readonly rights: Rights;
}

/** A viewer that redeemed a token; `hash` is the hash of both halves of its key. */
export interface Admission extends Token {
  readonly viewer: string;
}

/** `busy`: the program is writing. `flood`: faster than a page can follow. */
export type PartPace = "none" | "busy" | "flood";

/** Part of the output of a session: a frame with the bytes from `from` to `to`, or the reason why they are left out. */
export interface OutputPart {
  readonly from: number;
  readonly to: number;
  /** As pages receive it. Its memory belongs to the receiver. */
  readonly frame: Uint8Array<ArrayBuffer> | undefined;
  /** Only without a frame, and where `to` is behind `from`. */
  readonly gap: GapReason | undefined;
  readonly pace: PartPace;
  /** The output ends at `to`. */
  readonly isComplete: boolean;
}

/** Messages of the program to the server, which runs in a worker. */
export type ToServer =
  | { readonly type: "set"; readonly entities: readonly Entity[] }
  | { readonly type: "drop"; readonly keys: readonly string[] }
  | { readonly type: "token"; readonly token: Token }
  /** Response to the `read` with this number; undefined if there is no such session. */
  | { readonly type: "output"; readonly request: number; readonly part: OutputPart | undefined }
  /** A recording as asciicast; undefined if there is none, or it was cancelled. */
  | { readonly type: "recording"; readonly request: number; readonly text: string | undefined }
  /** For one viewer. */
  | { readonly type: "notice"; readonly viewer: string; readonly text: string; readonly isProblem: boolean }
  | { readonly type: "close" };

/** Messages of the server to the program. */
export type FromServer =
  | { readonly type: "listening"; readonly port: number }
  | { readonly type: "failed"; readonly message: string }
  | { readonly type: "admitted"; readonly admission: Admission; readonly tokenHash: string }
  | { readonly type: "token"; readonly token: Token }
  | { readonly type: "viewers"; readonly count: number }
  /** Requests output from an offset on; the response comes when there is some. */
  | { readonly type: "read"; readonly request: number; readonly session: number; readonly from: number }
  | { readonly type: "cancel"; readonly request: number }
  | { readonly type: "recording"; readonly request: number; readonly session: number }
  /** The page has left: the recording is not needed, but answered. */
  | { readonly type: "cancel_recording"; readonly request: number }
  | { readonly type: "action"; readonly viewer: string; readonly action: Action }
  | { readonly type: "closed" };
