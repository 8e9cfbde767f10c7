/** The default excludes of the environment policy, and what else names a secret. */
const SECRET_NAME = /KEY|SECRET|TOKEN|PASSW|CREDENTIAL|AUTH|COOKIE|SESSION|DSN|PRIVATE/i;

/** Whether a variable of this name is shown without its value. */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(name);

/** What stands in its place. */
export const HIDDEN = "<hidden>";
