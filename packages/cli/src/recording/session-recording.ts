import type { RecordedOutput } from "@codex/executor-protocol";
import { quoteWords } from "../visible.js";
import { createCastEncoder } from "./asciicast.js";

/** A recording of what an executor has of a session. Answers with lines. */
export interface SessionRecording {
  /** The parts come in order, each from where the one before ended. */
  add(part: RecordedOutput): string;
  /** Nothing more is added; tells how the program ended if the last part did. */
  end(last: RecordedOutput): string;
}

/** Size of the terminal that a recording of a program on pipes is meant for. */
const PIPES_SIZE = { rows: 24, cols: 80 };

interface PlacedEvent {
  /** In the output of the session; of those at one place the lower rank comes first. */
  offset: number;
  rank: number;
  encode(): string;
}

export function createSessionRecording(): SessionRecording {
  const encoder = createCastEncoder();
  let begun = false;
  /** `seq` of the last resize that was written. */
  let lastResize = 0;
  const listEvents = ({ chunks, gone, resizes }: RecordedOutput): PlacedEvent[] => {
    const fresh = resizes.filter(({ seq }) => seq > lastResize);
    lastResize = fresh.at(-1)?.seq ?? lastResize;
    return [
      ...fresh.map(({ offset, at, size }) => ({ offset, rank: 0, encode: () => encoder.resize(size, at) })),
      ...gone.map(({ from, to }) => {
        const label = `bytes ${from}-${to} of the output were not retained`;
        return { offset: from, rank: 1, encode: () => encoder.marker(label, 0) };
      }),
      ...chunks.map(({ offset, at, stream, data }) => {
        return { offset, rank: 2, encode: () => encoder.output(stream, Buffer.from(data, "base64"), at) };
      }),
    ].sort((a, b) => a.offset - b.offset || a.rank - b.rank);
  };
  return {
    add(part) {
      const { size = PIPES_SIZE, startedAt, command } = part;
      const header = begun ? "" : encoder.header({ size, startedAt, command: quoteWords(command) });
      begun = true;
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
