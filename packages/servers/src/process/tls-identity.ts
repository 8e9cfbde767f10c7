import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { messageOf } from "@codex/values";
import { CommandError, SERVER_EXIT } from "./command-error.js";

/** A PEM file and the option that names it. */
export interface PemFile {
  option: string;
  path: string;
  text: string;
}

const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/;
const PRIVATE_KEY = /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/;

const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

/** Checks that a listener can use a certificate and its key. @throws CommandError naming the file, and what it contains instead */
export function checkTlsIdentity(cert: PemFile, key: PemFile): void {
  const [certHolds, keyHolds] = [cert, key].map(({ text }) => ({
    certificate: CERTIFICATE.test(text),
    key: PRIVATE_KEY.test(text),
  })) as [Holding, Holding]; // two results for two files
  if (!certHolds.certificate && !keyHolds.key && certHolds.key && keyHolds.certificate) {
    throw refusal(`${name(cert)} contains a private key and ${name(key)} a certificate: they are swapped`);
  }
  if (!certHolds.certificate) throw refusal(`${name(cert)} contains no certificate in PEM form${instead(certHolds)}`);
  if (!keyHolds.key) throw refusal(`${name(key)} contains no private key in PEM form${instead(keyHolds)}`);
  const certificate = read(cert, "certificate", (text) => new X509Certificate(text));
  const privateKey = read<KeyObject>(key, "private key", createPrivateKey);
  if (certificate.checkPrivateKey(privateKey)) return;
  throw refusal(`${name(key)} is not the key of the certificate in ${name(cert)}, whose first certificate counts`);
}

interface Holding {
  certificate: boolean;
  key: boolean;
}

const name = ({ option, path }: PemFile): string => `${option} ${path}`;

const refusal = (why: string, cause?: unknown) =>
  new CommandError(`the TLS certificate and key cannot be used: ${why}`, SERVER_EXIT.usage, { cause });

function instead({ certificate, key }: Holding): string {
  if (certificate) return ", but a certificate";
  return key ? ", but a private key" : "";
}

function read<T>(file: PemFile, what: string, parse: (text: string) => T): T {
  try {
    return parse(file.text);
  } catch (cause) {
    if (ENCRYPTED.test(file.text))
      throw refusal(`the ${what} in ${name(file)} is encrypted; give one without a passphrase`, cause);
    const detail = messageOf(cause);
    throw refusal(`the ${what} in ${name(file)} cannot be read: ${detail}`, cause);
  }
}
