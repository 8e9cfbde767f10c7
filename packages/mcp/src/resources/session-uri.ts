/** What a session has as resources. */
export const RESOURCE_KINDS = ["output", "screen", "recording.cast"] as const;
export type ResourceKind = (typeof RESOURCE_KINDS)[number];

export interface SessionResource {
  session: number;
  kind: ResourceKind;
}

export const toUri = ({ session, kind }: SessionResource): string => `codex://sessions/${session}/${kind}`;

/** Undefined if it is not the URI of a session's resource. */
export function parseUri(uri: string): SessionResource | undefined {
  const [, id, name] = /^codex:\/\/sessions\/(\d{1,15})\/([a-z.]+)$/.exec(uri) ?? [];
  const kind = RESOURCE_KINDS.find((one) => one === name);
  return kind === undefined ? undefined : { session: Number(id), kind };
}
