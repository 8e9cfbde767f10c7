/** Without user, password, query and fragment of the URLs in it: those may be secrets. */
export const withoutUrlSecrets = (text: string): string =>
  text.replace(URL_TEXT, (_, scheme: string, rest: string) => {
    const [place = ""] = rest.split(/[?#]/, 1);
    const slash = place.indexOf("/");
    const authority = slash === -1 ? place : place.slice(0, slash);
    return `${scheme}${authority.slice(authority.lastIndexOf("@") + 1)}${place.slice(authority.length)}`;
  });

const URL_TEXT = /(:\/\/)([^\s"'`<>]+)/g;
