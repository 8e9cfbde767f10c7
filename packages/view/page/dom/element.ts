type Child = Node | string | undefined | false;

/** Attributes, and listeners as `on…`; those that are `undefined` or `false` are omitted. */
type Attributes = Readonly<Record<string, string | number | boolean | undefined | ((event: never) => void)>>;

/** Creates an element with children. Strings become text, never markup. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== undefined && child !== false) element.append(child);
  return element;
}

/** A landmark with a heading. */
export function panel(name: string, className: string, ...children: Child[]): HTMLElement {
  return h(
    "section",
    { "aria-label": name, class: `panel ${className}`, tabindex: "-1" },
    h("h2", {}, name),
    ...children,
  );
}

/** Sets the children of an element. Those that were there already keep their focus and scroll position. */
export function setChildren(parent: Element, children: readonly Element[]): void {
  const wanted = new Set(children);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  children.forEach((child, at) => {
    if (parent.children[at] !== child) parent.insertBefore(child, parent.children[at] ?? null);
  });
}
