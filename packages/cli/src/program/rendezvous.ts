import { type Command, Option } from "commander";
import { DependentOption } from "./check-options.js";
import { addNotes } from "./help.js";
import { addLogOptions, listenOption, parseSeconds } from "./options.js";

/** `codex rendezvous`. */
export function addRendezvous(program: Command): void {
  const rendezvous = program
    .command("rendezvous")
    .description(
      "Let executors that dial out and their harnesses meet: registry and relay, which cannot read the traffic",
    )
    .addOption(
      listenOption(
        "Address to listen on: http://HOST:PORT (port 0: a free one), or fd:// for a socket of systemd",
        "http://127.0.0.1:0",
      ),
    )
    .option("--public-url <url>", "http:// or https:// URL under which executors and harnesses reach it, if another")
    .option("--tls-cert <path>", "Speak TLS with this certificate (PEM, with its chain)")
    .option("--tls-key <path>", "Key of the certificate (PEM)")
    .option("--behind-proxy", "TLS ends at a proxy in front, and nobody else reaches the address", false)
    .option(
      "--token-file <path>",
      "Accepted tokens: lines of the SHA-256 of a token and its scopes; read again when it changes",
    )
    .option("--jwks-file <path>", "Accept JWTs signed by these public keys (JWKS); read again when it changes")
    .option("--jwt-issuer <issuer>", "Required `iss` of the JWTs")
    .option("--jwt-audience <audience>", "Required `aud` of the JWTs")
    .option(
      "--nats <url>",
      "Be one of several nodes, which meet at this NATS: nats://[USER:PASSWORD@]HOST[:PORT][/NAME]",
    )
    .addOption(
      new DependentOption("--node-url <url>", "--nats", "URL under which harnesses reach this node alone, if another"),
    )
    .option("--noise-only", "Refuse executors and harnesses in clear text: direct and legacy ones", false)
    .option("--drain <seconds>", "On a signal, refuse new work for so long before connections are closed", parseSeconds)
    .addOption(new Option("--metrics").hideHelp());
  addNotes(addLogOptions(rendezvous), {
    text: [
      "On loopback everybody may register and connect unless tokens are given. Elsewhere tokens and TLS are required. A scope is environment:ID:register or environment:ID:connect, where * at the end of ID stands for anything, or metrics.",
      "RENDEZVOUS_EXECUTOR_TOKEN may register every environment, RENDEZVOUS_HARNESS_TOKEN may connect to every one.",
      "The bound address is the one line on stdout. GET /readyz, /healthz and /metrics are answered. Protocol and deployment: docs/rendezvous.md.",
    ],
    exitCodes: [
      ["0", "after SIGTERM or SIGINT"],
      ["1", "an error"],
      ["2", "bad arguments"],
    ],
    examples: [
      "codex rendezvous --listen http://127.0.0.1:7070",
      "CODEX_API_KEY=any codex exec-server --remote http://127.0.0.1:7070 --environment-id box    # OpenAI's codex",
      'printf %s "$TOKEN" | sha256sum    # for a line of --token-file',
    ],
  }).action(async (options) => (await import("@codex/servers/rendezvous")).runRendezvous(options));
}
