/** Seconds since 1970 that stand for "made by a sandbox"; whoever puts something there changes it. */
export const MARK_S = 0x5a4d;
