// What the browser keeps: JSON values under one prefix of localStorage.

/**
 * Values kept under `prefix` for the page at `place`: campaigns at one address are kept apart. Those
 * that the browser refuses to keep live as long as the page.
 */
export class BrowserStorage {
  #prefix;
  #unkept = new Map();

  constructor(prefix, place = location.pathname) {
    this.#prefix = `possibal${place}${prefix}/`;
  }

  /** The value under `name`, or `otherwise`. */
  read(name, otherwise = null) {
    if (this.#unkept.has(name)) return this.#unkept.get(name);
    try {
      return JSON.parse(localStorage.getItem(this.#prefix + name)) ?? otherwise;
    } catch {
      return otherwise;
    }
  }

  /** Whether the value now survives a reload. */
  write(name, value) {
    try {
      localStorage.setItem(this.#prefix + name, JSON.stringify(value));
      this.#unkept.delete(name);
      return true;
    } catch {
      this.#unkept.set(name, value);
      return false;
    }
  }

  remove(name) {
    this.#unkept.delete(name);
    try {
      localStorage.removeItem(this.#prefix + name);
    } catch {
      // Storage is switched off: nothing was kept there.
    }
  }

  /** All names that start with `start`, in order. */
  names(start) {
    const found = new Set([...this.#unkept.keys()].filter((name) => name.startsWith(start)));
    try {
      for (const full of Object.keys(localStorage))
        if (full.startsWith(this.#prefix + start)) found.add(full.slice(this.#prefix.length));
    } catch {
      // As above.
    }
    return [...found].sort();
  }
}
