/** A file beside the command, in a bundle for a host whose native code was not there to be sent. */
export const WITHOUT_NATIVE = "parts/without-native";
