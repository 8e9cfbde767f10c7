import type { ByteRange, OutputStream, TerminalSize } from "@codex/executor-protocol";
import { createCastEncoder, describeGap } from "./asciicast.js";
import type { CastSink } from "./cast-file.js";

/** A recording of a running program. Data is written immediately; a returned promise applies back-pressure. */
export interface RunRecording {
  output(stream: OutputStream, bytes: Uint8Array): Promise<void> | undefined;
  /** Marks a range of bytes that is missing before the next output. */
  gap(range: ByteRange): void;
  input(bytes: Uint8Array): void;
  resize(size: TerminalSize): void;
  /** Resolves when the recording is complete. The exit code is undefined when it is not known. */
  end(exitCode: number | undefined): Promise<void>;
}

/** How a program is recorded. */
export interface RunRecordingOptions {
  /** The command line as a user would type it. */
  command: string;
  size: TerminalSize;
  terminalType: string | undefined;
  /** Whether input is recorded, which may contain passwords. */
  withInput: boolean;
}

/** Starts recording to `sink`, and closes it at the end. */
export function startRunRecording(
  sink: CastSink,
  { command, size, terminalType, withInput }: RunRecordingOptions,
): RunRecording {
  const encoder = createCastEncoder();
  const began = performance.now();
  const now = () => performance.now() - began;
  void sink.write(encoder.header({ size, startedAt: Date.now(), command, terminalType }));
  return {
    gap: (range) => void sink.write(encoder.marker(describeGap(range), now())),
    output: (stream, bytes) => sink.write(encoder.output(stream, bytes, now())),
    input(bytes) {
      if (withInput) void sink.write(encoder.input(bytes, now()));
    },
    resize: (next) => void sink.write(encoder.resize(next, now())),
    async end(exitCode) {
      void sink.write(encoder.end(exitCode, now()));
      await sink.close();
    },
  };
}
