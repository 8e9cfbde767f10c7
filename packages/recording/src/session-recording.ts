import type { RecordedOutput } from "@codex/executor-protocol";
import { createCastEncoder, describeGap } from "./asciicast.js";

/** Turns the retained output of a session into lines of a recording. */
export interface SessionRecording {
  /** Adds a part of the output, which starts where the previous one ended. */
  add(part: RecordedOutput): string;
  /** Ends the recording, with the outcome if the last part had one. */
  end(last: RecordedOutput): string;
}

/** Terminal size in the recording of a program on pipes. */
const PIPES_SIZE = { rows: 24, cols: 80 };

interface PlacedEvent {
  /** Byte offset in the output of the session; at the same offset, the lower rank comes first. */
  offset: number;
  rank: number;
  encode(): string;
}

/** @param quoteWords renders a command line as a user would type it */
export function createSessionRecording(quoteWords: (words: readonly string[]) => string): SessionRecording {
  const encoder = createCastEncoder();
  let hasHeader = false;
  /** `seq` of the last resize that was written. */
  let lastResize = 0;
  const listEvents = ({ chunks, gone, resizes }: RecordedOutput): PlacedEvent[] => {
    const fresh = resizes.filter(({ seq }) => seq > lastResize);
    lastResize = fresh.at(-1)?.seq ?? lastResize;
    return [
      ...fresh.map(({ offset, at, size }) => ({ offset, rank: 0, encode: () => encoder.resize(size, at) })),
      ...gone.map((range) => {
        return { offset: range.from, rank: 1, encode: () => encoder.marker(describeGap(range), 0) };
      }),
      ...chunks.map(({ offset, at, stream, data }) => {
        return { offset, rank: 2, encode: () => encoder.output(stream, Buffer.from(data, "base64"), at) };
      }),
    ].sort((a, b) => a.offset - b.offset || a.rank - b.rank);
  };
  return {
    add(part) {
      const { size = PIPES_SIZE, startedAt, command } = part;
      const header = hasHeader ? "" : encoder.header({ size, startedAt, command: quoteWords(command) });
      hasHeader = true;
      return (
        header +
        listEvents(part)
          .map(({ encode }) => encode())
          .join("")
      );
    },
    end: ({ exitCode, exitedAt = 0 }) => encoder.end(exitCode, exitedAt),
  };
}
