/** A file next to the command, in a bundle for a host whose native code was not available. */
export const WITHOUT_NATIVE = "parts/without-native";
